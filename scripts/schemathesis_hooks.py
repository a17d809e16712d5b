"""Rules of the API that JSON Schema cannot say, taught to the fuzzer.

Without them it would take a refusal that a rule demands for a fault. Nothing is switched off: only values that
fit the schema are changed, so that wrong requests stay wrong.
"""

import copy
import datetime
import math
import os
import re
import unicodedata
import uuid
from urllib.parse import quote, unquote

import schemathesis
from schemathesis.core.parameters import ParameterLocation

# Made by scripts/fuzz-api.
LISTING = "fuzzed-home"
USER = "fuzz"
# Between the mode and the secret.
KEY_ID = os.environ.get("PORTICO_FUZZ_API_KEY", "__").split("_")[1]
ETAGS = re.compile(r'(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)\Z')
# Who is named, in whatever place. Schemas cannot say NFC, and say nothing about characters beyond the basic plane.
NAMES = ("userId", "UserId", "accountId", "clientId", "ClientId")
INVISIBLE = re.compile("[\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]")
TEXT = re.compile(r"[^\x00-\x1f\x7f-\x9f]{1,255}\Z")


def is_meant_to_be_valid(case):
    # The fuzzer's coverage of one parameter fills the others in without looking at their patterns.
    return case.meta is not None and case.meta.generation.mode.is_positive


def is_text(value):
    return isinstance(value, str) and TEXT.match(value) and value.strip()


def canonical(value):
    return INVISIBLE.sub("x", unicodedata.normalize("NFC", value))[:255] if is_text(value) else value


def names_in_canonical_form(values, is_quoted=False):
    for name in NAMES:
        if isinstance(values, dict) and isinstance(values.get(name), str):
            value = unquote(values[name]) if is_quoted else values[name]
            if canonical(value) != value:
                values[name] = quote(canonical(value), safe="") if is_quoted else canonical(value)


# How many decimals the service takes. The schemas cannot say it: `multipleOf` is computed in binary.
DECIMALS = {
    "monthlyRent": 4, "monthlyPayment": 4, "propertyValue": 4, "allocationPercentage": 4, "minIncome": 2, "prefIncome": 2,
    "minRent": 4, "maxRent": 4,
}


def decimals_that_fit(values):
    members = values.items() if isinstance(values, dict) else enumerate(values)
    for name, value in list(members):
        if isinstance(value, (dict, list)):
            decimals_that_fit(value)
        elif name in DECIMALS and isinstance(value, float) and math.isfinite(value):
            values[name] = round(value, DECIMALS[name])


def is_number(value, low, high):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


@schemathesis.hook
def before_call(context, case, kwargs):
    # A copy: the fuzzer derives several requests from one body.
    path, body = case.path, copy.deepcopy(case.body)
    names_in_canonical_form(case.path_parameters, is_quoted=True)
    names_in_canonical_form(case.query)
    names_in_canonical_form(body)
    if case.query:
        decimals_that_fit(case.query)
    if isinstance(body, dict):
        case.body = body
        decimals_that_fit(body)
        shares_fit_into_one_whole(body)
        both_coordinates_or_none(body, is_patch=case.method.upper() == "PATCH")
        # Completes a prefix of a URL to a valid one.
        if re.match("https?://", str(body.get("walkthroughLink", ""))):
            body["walkthroughLink"] = "https://example.com/tour"
        not_below_the_least(body, "minCredit", "prefCredit", 1000)
        not_below_the_least(body, "minIncome", "prefIncome", 99_999_999_999)
        if isinstance(body.get("terms"), dict):
            not_below_the_least(body["terms"], "minCredit", "prefCredit", 1000)
            not_below_the_least(body["terms"], "minIncome", "prefIncome", 99_999_999_999)
        # The template must exist; a separate operation copies templates.
        if is_text(body.get("basedOnPredefinedId")):
            del body["basedOnPredefinedId"]
        # The body's user is the path's.
        user = unquote(str(case.path_parameters.get("userId", "")))
        if path.endswith("/check") and is_text(body.get("userId")) and is_text(user):
            body["userId"] = user
        # Listings that are applied to must exist.
        if path == "/applications" or path.endswith("/check"):
            applies_to_a_listing_that_exists(case, body)
            # Conditions that were seen are the present ones.
            seen = body.get("conditions")
            if isinstance(seen, dict) and all(isinstance(tag, str) for tag in seen.values()):
                body["conditions"] = {}
        if path.endswith("/decision"):
            rests_on_checks_or_on_nothing(body)
        if path == "/verifyRentalRequirements":
            an_applicant_with_everything(body)
        # A key expires in the future.
        if path == "/v1/keys" and re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d", str(body.get("expiresAt", ""))):
            body["expiresAt"] = "2099-12-31T23:59:59Z"
        # A pipeline without checks is rejected.
        if path == "/verificationPipeline" and isinstance(body.get("EvictionCheck", True), bool):
            body["EvictionCheck"] = True
    # Only the applicant ends or renews the sharing and gets the proof; the fuzzer's token names them.
    is_own = case.method.upper() in ("DELETE", "PUT") or path.endswith("/proof")
    if is_own and path.startswith("/v1/applications/"):
        if is_text(unquote(str(case.path_parameters.get("userId", "")))):
            case.path_parameters["userId"] = USER
    # The listing that is applied to stays.
    for name in ("listingId", "ListingKey"):
        if case.method.upper() == "DELETE" and unquote(str(case.path_parameters.get(name, ""))).strip() == LISTING:
            case.path_parameters[name] = "another-home"
            # A changed parameter would pass for one of a link, to something that was just created.
            case._components.pop(ParameterLocation.PATH, None)
    # So does the key of the fuzzer itself, which the list of all keys shows.
    if case.method.upper() == "DELETE" and path == "/v1/keys/{id}" and case.path_parameters.get("id") == KEY_ID:
        case.path_parameters["id"] = "0123456789abcdef"
        case._components.pop(ParameterLocation.PATH, None)
    # A cursor comes from a page of the same query.
    query = case.query
    if query and re.fullmatch("[0-9a-f]{48}", str(query.get("cursor", ""))):
        del query["cursor"]
    # A radius needs its centre.
    if query and "near" not in query and path in ("/listings", "/v1/listing-clusters"):
        try:
            if is_number(float(query["radiusKm"]), 0, 20038):
                del query["radiusKm"]
        except (KeyError, TypeError, ValueError):
            pass
    # A token whose case names no wallet needs an address.
    if case.method.upper() == "GET" and path.endswith("/claim") and "address" not in (query or {}):
        case.query = {**(query or {}), "address": "0x52908400098527886E0F7030069857D2E4169EE7"}
    # Any other ETag is that of an older version.
    if case.headers and "If-Match" in case.headers:
        if ETAGS.match(str(case.headers["If-Match"])) or is_meant_to_be_valid(case):
            case.headers["If-Match"] = "*"
    # An idempotency key belongs to one request.
    if case.headers and re.fullmatch(r"[!-~]{1,255}", str(case.headers.get("Idempotency-Key", ""))):
        case.headers["Idempotency-Key"] = str(uuid.uuid4())


def applies_to_a_listing_that_exists(case, body):
    listings = body.get("listingIds")
    if isinstance(listings, list) and all(is_text(listing) for listing in listings):
        body["listingIds"] = [LISTING] * len(listings)
    if is_text(unquote(str(case.path_parameters.get("listingId", "")))):
        case.path_parameters["listingId"] = LISTING


def rests_on_checks_or_on_nothing(body):
    checks = ("eviction", "income", "softCredit", "criminalBackground")
    reasons, basis = body.get("reasons"), body.get("basis")
    are_valid = reasons is None or isinstance(reasons, list) and all(reason in checks for reason in reasons)
    if body.get("decision") not in ("conditional", "declined") or not are_valid or basis not in (None, "no_report"):
        return
    if reasons:
        body.pop("basis", None)
    else:
        body["basis"] = "no_report"


def an_applicant_with_everything(body):
    # No dates in the future or before year 1.
    try:
        born = datetime.date.fromisoformat(body.get("DateOfBirth", ""))
        if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", body["DateOfBirth"]) and born > datetime.date.today():
            body["DateOfBirth"] = "1990-12-10"
    except (TypeError, ValueError):
        if re.fullmatch("0000-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", str(body.get("DateOfBirth", ""))):
            body["DateOfBirth"] = "1990-12-10"
    # RFC 3339 allows leap seconds and dates that we reject.
    moment = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9:.]+([Zz]|[+-][0-9]{2}:[0-9]{2})"
    if re.fullmatch(moment, str(body.get("consentedAt", ""))):
        body["consentedAt"] = "2026-01-31T12:00:00Z"
    # All inputs are present, whichever checks the pipeline requires.
    everything = {
        "FirstName": "Ada", "LastName": "Lovelace", "DateOfBirth": "1990-12-10", "SSN": "900-00-0720",
        "OpenBankingToken": "income-85000",
    }
    for name, value in everything.items():
        if body.get(name) is None:
            body[name] = value
    # The only version of the consent text.
    if is_text(body.get("consentVersion")):
        body["consentVersion"] = "2026-01"


def shares_fit_into_one_whole(body):
    items = body.get("protocolItems")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return
    shares = [item.get("allocationPercentage") for item in items]
    if all(is_number(share, 0, 100) for share in shares) and sum(shares) > 100:
        for item in items:
            item["allocationPercentage"] = 0


def not_below_the_least(body, least, preferred, most):
    values = body.get(least), body.get(preferred)
    if all(is_number(value, 0, most) for value in values) and values[1] < values[0]:
        body[preferred] = values[0]


def both_coordinates_or_none(body, is_patch):
    # `null` clears a value in a PATCH, and is absent elsewhere.
    def presence(name):
        return (name in body, body.get(name, 0) is None) if is_patch else body.get(name) is not None

    if presence("latitude") == presence("longitude"):
        return

    def is_valid(name, most):
        value = body.get(name)
        return value is None or is_number(value, -most, most)

    if is_valid("latitude", 90) and is_valid("longitude", 180):
        body.pop("latitude", None)
        body.pop("longitude", None)
