//! All codes of single faults, [`ValidationError`](crate::ValidationError). The OpenAPI document and the table in
//! `docs/api.md` derive them from here, and the console has a message for each in every language.

macro_rules! fault_codes {
    ($($variant:ident = $name:literal, $text:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum FaultCode {
            $(#[doc = $text] $variant,)+
        }

        impl FaultCode {
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What is wrong, for the documentation.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }
    };
}

fault_codes! {
    Missing = "missing", "a value is required";
    Empty = "empty", "it must not be empty";
    Required = "required", "a check that was asked for needs it";
    Repeated = "repeated", "it is given twice";
    WrongType = "wrong_type", "the value is of another JSON type";
    TooLong = "too_long", "it has more than `max` characters";
    TooMany = "too_many", "it has more than `max` items";
    ControlCharacter = "control_character", "it has control characters";
    OuterSpace = "outer_space", "it begins or ends with white space";
    InvisibleCharacter = "invisible_character", "it has characters that are invisible or change the direction of text";
    NotNormalized = "not_normalized", "it is not in Unicode normalization form C";
    NotAnId = "not_an_id", "`.` and `..` are no ids: they have a meaning in paths";
    NotText = "not_text", "it has an escape that is no character";
    NotANumber = "not_a_number", "it is not a number";
    NotWhole = "not_whole", "it is no whole number";
    TooPrecise = "too_precise", "it has more than `max` decimal places";
    OutOfRange = "out_of_range", "it is less than `min` or more than `max`";
    BelowMinimum = "below_minimum", "what is preferred is less than the minimum";
    NotADate = "not_a_date", "it is no day of the calendar";
    NotAMoment = "not_a_moment", "it is no date and time with an offset";
    InTheFuture = "in_the_future", "it is in the future";
    InThePast = "in_the_past", "it is in the past";
    NotAnSsn = "not_an_ssn", "it is no social security number";
    NotAnEmail = "not_an_email", "it is no e-mail address";
    NotALink = "not_a_link", "it is no http or https URL";
    NotAWallet = "not_a_wallet", "it is no address of a wallet";
    NotASignature = "not_a_signature", "it is no signature";
    NotAHash = "not_a_hash", "it is no hash";
    NotAReference = "not_a_reference", "it has other characters than letters, digits and `-._~`";
    NotAPoint = "not_a_point", "it is not two numbers: latitude,longitude";
    NotABox = "not_a_box", "it is not four numbers: west,south,east,north";
    NotACursor = "not_a_cursor", "it is no cursor of a `Link` header of the same query";
    NotAnEtag = "not_an_etag", "it is neither `*` nor ETags";
    HalfAPlace = "half_a_place", "latitude and longitude belong together";
    WithoutNear = "without_near", "it needs `near`";
    AnotherUser = "another_user", "it is not the user of the path";
    OverAllocated = "over_allocated", "the shares add up to more than 100";
    NotChangeable = "not_changeable", "it cannot be changed";
    NotRemovable = "not_removable", "it cannot be removed";
    UnknownMember = "unknown_member", "there is no such member to change";
    DeviceExists = "device_exists", "the device is registered on its network already";
    ConditionsChanged = "conditions_changed", "the conditions are others than those of this tag";
    UnknownBasis = "unknown_basis", "there is no such basis of a decision";
    UnknownListing = "unknown_listing", "there is no such listing";
    UnknownTemplate = "unknown_template", "there is no such predefined portfolio";
    UnknownConsent = "unknown_consent", "there is no consent text of this version";
    UnknownCheck = "unknown_check", "there is no such check";
    UnknownDecision = "unknown_decision", "there is no such decision";
    UnknownStatus = "unknown_status", "there is no such status";
    UnknownOrder = "unknown_order", "there is no such order";
    UnknownScope = "unknown_scope", "there is no such scope of keys";
    UnknownRiskLevel = "unknown_risk_level", "there is no such risk level";
    UnknownField = "unknown_field", "there is no such field";
    NothingToCheck = "nothing_to_check", "no check can run";
    RefusedByBureau = "refused_by_bureau", "a bureau does not accept it";
    NotUtf8 = "not_utf8", "the body is not UTF-8";
    NotJson = "not_json", "the body is not JSON";
    TooDeep = "too_deep", "the body is nested too deeply";
}

impl std::fmt::Display for FaultCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique() {
        let names: std::collections::BTreeSet<_> = FaultCode::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), FaultCode::ALL.len());
    }
}
