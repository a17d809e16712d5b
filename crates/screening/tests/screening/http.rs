//! The contract of the HTTP bureau, against a misbehaving server.
//!
//! Where a response is expected, the timeouts are very long; only endless responses have short ones. So no test
//! depends on the machine's speed.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use portico_domain::{Income, Timestamp};
use portico_screening::backoff::Backoff;
use portico_screening::http::{HttpBureau, HttpBureauSettings, MAX_RESPONSE_BYTES};
use portico_screening::{
    Bureau as _, BureauError, Check, CheckRun, Finding, Policy, Request, Routing, Runner, Score,
};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::people::{VALUES, applicant, assert_shows_nothing, country, reference};
use crate::process::run_alone;
use crate::server::{NOW, Received, Reply, SECRET, Server, answer, signed, signed_at};

const LONG_TIMEOUT: Duration = Duration::from_hours(24);
/// A test that takes longer hangs.
const TEST_TIMEOUT: Duration = Duration::from_mins(1);
const SHORT_TIMEOUT: Duration = Duration::from_millis(150);

const UNAVAILABLE: BureauError = BureauError::Unavailable { retry_after: None };

fn bureau(server: &Server, change: impl FnOnce(&mut HttpBureauSettings)) -> HttpBureau {
    let mut settings = HttpBureauSettings::new("vendor", &server.url, SECRET.into());
    (settings.connect_timeout, settings.timeout) = (LONG_TIMEOUT, LONG_TIMEOUT);
    change(&mut settings);
    HttpBureau::new(settings, Arc::new(|| Timestamp::from_micros(NOW * 1_000_000))).unwrap()
}

async fn ask(bureau: &HttpBureau, check: Check, time: Duration) -> Result<Finding, BureauError> {
    let (applicant, country, reference) = (applicant(&[]), country(), reference("case-1"));
    let deadline = Instant::now() + time;
    let request =
        Request { check, applicant: &applicant, reference: &reference, country: &country, deadline };
    assert_shows_nothing(&format!("{request:?}"));
    let result = timeout(TEST_TIMEOUT, bureau.check(request)).await.unwrap();
    if let Err(error) = result {
        assert_shows_nothing(&format!("{error} {error:?} {error:#?}"));
    }
    result
}

/// The result of a credit check against these replies.
async fn credit(replies: Vec<Reply>) -> Result<Finding, BureauError> {
    let server = Server::start(replies).await;
    ask(&bureau(&server, |_| ()), Check::SoftCredit, LONG_TIMEOUT).await
}

/// With a short timeout.
async fn hurried(replies: Vec<Reply>) -> Result<Finding, BureauError> {
    let server = Server::start(replies).await;
    let bureau = bureau(&server, |settings| settings.timeout = SHORT_TIMEOUT);
    ask(&bureau, Check::SoftCredit, LONG_TIMEOUT).await
}

fn body(change: &[(&str, Value)]) -> String {
    let mut body = json!({ "reference": "case-1", "check": "softCredit", "status": "complete", "result": { "score": 620 } });
    for (key, value) in change {
        body[key] = value.clone();
    }
    body.to_string()
}

fn complete() -> Reply {
    signed(200, "case-1", &body(&[]))
}

fn pending(millis: u64) -> Reply {
    let body =
        json!({ "reference": "case-1", "check": "softCredit", "status": "pending", "retryAfterMs": millis });
    signed(202, "case-1", &body.to_string())
}

fn broken(why: &'static str) -> Result<Finding, BureauError> {
    Err(BureauError::Broken(why))
}

/// The result of [`complete`].
const FOUND: Result<Finding, BureauError> =
    Ok(Finding::SoftCredit { score: Score::DEFAULT_THRESHOLD, range: None, factors: Vec::new() });

/// Verifies the signature without the bureau's own code.
fn is_signed(request: &Received) -> bool {
    let timestamp = request.header("portico-timestamp").unwrap();
    let signed =
        [timestamp.as_bytes(), request.method.as_bytes(), request.path.as_bytes(), &request.body].join(&b'.');
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), &signed);
    let hex = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    request.header("portico-signature") == Some(&format!("v1={hex}"))
}

#[tokio::test]
async fn a_check_is_answered() {
    assert_eq!(credit(vec![complete()]).await, FOUND);
}

#[tokio::test]
async fn every_check_has_its_own_result() {
    for (check, result, finding) in [
        (Check::Eviction, json!({ "found": true }), Finding::Eviction { found: true }),
        (
            Check::Income,
            json!({ "yearly": 85_000.25 }),
            Finding::Income { yearly: Income::from_units(8_500_025) },
        ),
        (Check::CriminalBackground, json!({ "found": false }), Finding::CriminalBackground { found: false }),
    ] {
        let body = body(&[("check", json!(check.name())), ("result", result)]);
        let server = Server::start(vec![signed(200, "case-1", &body)]).await;
        assert_eq!(ask(&bureau(&server, |_| ()), check, LONG_TIMEOUT).await, Ok(finding));
    }
}

#[tokio::test]
async fn a_request_is_signed_and_named() {
    let server = Server::start(vec![complete()]).await;
    ask(&bureau(&server, |_| ()), Check::SoftCredit, LONG_TIMEOUT).await.unwrap();
    let [request] = &server.received()[..] else { panic!("one request") };
    assert_eq!((&*request.method, &*request.path), ("POST", "/vendor/v1/checks"));
    assert_eq!(request.header("idempotency-key"), Some("case-1"));
    assert_eq!(request.header("portico-timestamp"), Some("1760000000"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert!(is_signed(request));
}

#[tokio::test]
async fn only_inputs_of_the_check_are_sent() {
    for (check, fields) in [
        (Check::Eviction, &["FirstName", "LastName", "DateOfBirth"][..]),
        (Check::Income, &["OpenBankingToken", "OpenBankingSubscriptionId"]),
        (Check::SoftCredit, &["FirstName", "LastName", "SSN"]),
        (Check::CriminalBackground, &["FirstName", "LastName", "DateOfBirth"]),
    ] {
        let server = Server::start(vec![Reply::Closes]).await;
        ask(&bureau(&server, |_| ()), check, LONG_TIMEOUT).await.unwrap_err();
        let sent: Value = serde_json::from_slice(&server.received()[0].body).unwrap();
        let needed = VALUES.iter().filter(|(field, _)| fields.contains(&field.name()));
        let needed: Value = needed.map(|(field, value)| (field.name().to_owned(), json!(value))).collect();
        let whole =
            json!({ "reference": "case-1", "check": check.name(), "country": "US", "applicant": needed });
        assert_eq!(sent, whole);
    }
}

#[tokio::test]
async fn pending_bureau_is_polled_until_done() {
    let server = Server::start(vec![pending(0), pending(1), complete()]).await;
    let found_late = ask(&bureau(&server, |_| ()), Check::SoftCredit, LONG_TIMEOUT).await;
    assert_eq!(found_late, FOUND);
    let received = server.received();
    let asked: Vec<_> = received.iter().map(|request| (&*request.method, &*request.path)).collect();
    let again = ("GET", "/vendor/v1/checks/case-1");
    assert_eq!(asked, [("POST", "/vendor/v1/checks"), again, again]);
    assert!(received.iter().all(is_signed));
    assert!(received[1..].iter().all(|request| request.body.is_empty()));
}

#[tokio::test]
async fn endless_pending_is_too_slow() {
    let server = Server::start(vec![pending(0)]).await;
    let result = ask(&bureau(&server, |_| ()), Check::SoftCredit, Duration::from_millis(300)).await;
    assert_eq!(result, Err(BureauError::TooSlow));
}

#[tokio::test]
async fn stops_waiting_when_the_result_would_be_late() {
    let server = Server::start(vec![pending(u64::MAX)]).await;
    // The next poll would come after five seconds, and there are only four.
    let result = ask(&bureau(&server, |_| ()), Check::SoftCredit, Duration::from_secs(4)).await;
    assert_eq!(result, Err(BureauError::TooSlow));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_bureau_that_never_answers_is_too_slow() {
    assert_eq!(hurried(vec![Reply::SendsAndHangs(Vec::new())]).await, Err(BureauError::TooSlow));
}

#[tokio::test]
async fn check_deadline_ends_a_request() {
    let server = Server::start(vec![Reply::SendsAndHangs(Vec::new())]).await;
    let result = ask(&bureau(&server, |_| ()), Check::SoftCredit, SHORT_TIMEOUT).await;
    assert_eq!(result, Err(BureauError::TooSlow));
}

#[tokio::test]
async fn a_header_that_drips_is_too_slow() {
    let head = "HTTP/1.1 200 OK\r\nx-slow: ";
    assert_eq!(hurried(vec![Reply::Drips(head.into(), b'a')]).await, Err(BureauError::TooSlow));
}

#[tokio::test]
async fn headers_that_do_not_end_are_unavailable() {
    let head = "HTTP/1.1 200 OK\r\n";
    let floods = Reply::Floods(head.into(), "x-more: of the same\r\n".into());
    assert_eq!(credit(vec![floods]).await, Err(UNAVAILABLE));
}

#[tokio::test]
async fn endless_100_continue_is_too_slow() {
    let goes_on = "HTTP/1.1 100 Continue\r\n\r\n";
    let floods = Reply::Floods(Vec::new(), goes_on.into());
    assert_eq!(hurried(vec![floods]).await, Err(BureauError::TooSlow));
}

#[tokio::test]
async fn a_body_that_drips_is_too_slow() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n";
    assert_eq!(hurried(vec![Reply::Drips(head.into(), b' ')]).await, Err(BureauError::TooSlow));
}

#[tokio::test]
async fn a_body_that_stops_is_too_slow() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"refer";
    assert_eq!(hurried(vec![Reply::SendsAndHangs(head.into())]).await, Err(BureauError::TooSlow));
}

#[tokio::test]
async fn a_failing_bureau_is_unavailable() {
    for status in [500, 502, 503, 504, 599] {
        assert_eq!(credit(vec![answer(status, "", "{}")]).await, Err(UNAVAILABLE), "{status}");
    }
}

#[tokio::test]
async fn retry_after_is_honoured() {
    // 1760000000 is 08:53:20 on that day.
    for (header, seconds) in [
        ("7", Some(7)),
        ("0", Some(0)),
        ("999999999", Some(3600)),
        ("Thu, 09 Oct 2025 08:54:20 GMT", Some(60)),
        ("Thu, 09 Oct 2025 08:00:00 GMT", Some(0)),
        ("-1", None),
        ("soon", None),
    ] {
        let header = format!("Retry-After: {header}\r\n");
        let retry_after = seconds.map(Duration::from_secs);
        let down = credit(vec![answer(503, &header, "")]).await;
        assert_eq!(down, Err(BureauError::Unavailable { retry_after }), "{header}");
        let busy = credit(vec![answer(429, &header, "")]).await;
        assert_eq!(busy, Err(BureauError::Busy { retry_after }), "{header}");
    }
}

#[tokio::test]
async fn status_429_and_425_are_busy() {
    for status in [409, 425, 429] {
        let busy = credit(vec![answer(status, "", "")]).await;
        assert_eq!(busy, Err(BureauError::Busy { retry_after: None }), "{status}");
    }
}

#[tokio::test]
async fn status_4xx_is_a_refusal_whatever_the_body() {
    let echo =
        json!({ "error": "no such person", "SSN": "912-34-5678", "LastName": "Zaubermann" }).to_string();
    for status in [400, 413, 422, 451] {
        assert_eq!(credit(vec![answer(status, "", &echo)]).await, Err(BureauError::Refused), "{status}");
    }
}

#[tokio::test]
async fn status_401_and_404_do_not_blame_the_applicant() {
    for status in [401, 403] {
        let refused = credit(vec![answer(status, "", "")]).await;
        assert_eq!(refused, broken("it does not accept this service's signature"));
    }
    for status in [404, 405] {
        let transport_error = credit(vec![answer(status, "", "")]).await;
        assert_eq!(transport_error, broken("it does not know this address or reference"));
    }
}

#[tokio::test]
async fn forgotten_reference_is_broken() {
    let forgotten = credit(vec![pending(0), answer(404, "", "")]).await;
    assert_eq!(forgotten, broken("it does not know this address or reference"));
    let refused = credit(vec![pending(0), answer(422, "", "")]).await;
    assert_eq!(refused, broken("it refuses what it had accepted"));
}

#[tokio::test]
async fn a_redirect_is_never_followed() {
    let elsewhere = Server::start(vec![complete()]).await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("Location: {}/v1/checks\r\n", elsewhere.url);
        assert_eq!(credit(vec![answer(status, &location, "")]).await, broken("it is a redirect"), "{status}");
    }
    assert!(elsewhere.received().is_empty());
}

#[tokio::test]
async fn a_socket_that_is_closed_before_the_header_is_unavailable() {
    assert_eq!(credit(vec![Reply::Closes]).await, Err(UNAVAILABLE));
}

#[tokio::test]
async fn a_socket_that_is_closed_within_the_header_is_unavailable() {
    assert_eq!(credit(vec![Reply::Sends("HTTP/1.1 200 OK\r\ncontent-".into())]).await, Err(UNAVAILABLE));
}

#[tokio::test]
async fn a_socket_that_is_closed_within_the_body_is_unavailable() {
    let cut = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"refer";
    assert_eq!(credit(vec![Reply::Sends(cut.into())]).await, Err(UNAVAILABLE));
    let cut = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"ref\r\n";
    assert_eq!(credit(vec![Reply::Sends(cut.into())]).await, Err(UNAVAILABLE));
}

#[tokio::test]
async fn a_bureau_that_speaks_no_http_is_unavailable() {
    assert_eq!(credit(vec![Reply::Sends("220 mail.example ESMTP\r\n".into())]).await, Err(UNAVAILABLE));
}

#[tokio::test]
async fn closed_port_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut server = Server::start(vec![complete()]).await;
    server.url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(ask(&bureau(&server, |_| ()), Check::SoftCredit, LONG_TIMEOUT).await, Err(UNAVAILABLE));
}

#[tokio::test]
async fn what_is_no_json_is_broken() {
    for body in ["", "OK", "<html></html>", "{\"reference\":", "null", "720", "\u{feff}{}"] {
        let result = credit(vec![signed(200, "case-1", body)]).await;
        assert_eq!(result, broken("it is not the JSON of the protocol"), "{body}");
    }
}

#[tokio::test]
async fn json_array_is_broken() {
    let array = json!(["case-1", "softCredit", "complete", { "score": 720 }, null]).to_string();
    let result = credit(vec![signed(200, "case-1", &array)]).await;
    assert_eq!(result, broken("it is not the JSON of the protocol"));
}

#[tokio::test]
async fn a_body_that_says_it_is_huge_is_broken() {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", MAX_RESPONSE_BYTES + 1);
    assert_eq!(credit(vec![Reply::SendsAndHangs(head.into())]).await, broken("it is too long"));
}

#[tokio::test]
async fn a_body_that_does_not_end_is_broken() {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(0x1000));
    assert_eq!(credit(vec![Reply::Floods(head.into(), chunk.into())]).await, broken("it is too long"));
}

#[tokio::test]
async fn body_of_the_maximum_size_is_read() {
    let body = body(&[]);
    let longest = format!("{body}{}", " ".repeat(MAX_RESPONSE_BYTES - body.len()));
    assert_eq!(credit(vec![signed(200, "case-1", &longest)]).await, FOUND);
    assert_eq!(credit(vec![signed(200, "case-1", &format!("{longest} "))]).await, broken("it is too long"));
}

#[tokio::test]
async fn an_answer_with_another_reference_is_broken() {
    let body = body(&[("reference", json!("case-2"))]);
    assert_eq!(credit(vec![signed(200, "case-1", &body)]).await, broken("it has another reference"));
}

#[tokio::test]
async fn an_answer_about_another_check_is_broken() {
    let body = body(&[("check", json!("eviction")), ("result", json!({ "found": false }))]);
    assert_eq!(credit(vec![signed(200, "case-1", &body)]).await, broken("it is about another check"));
}

#[tokio::test]
async fn an_unknown_status_is_broken() {
    let body = body(&[("status", json!("almost"))]);
    assert_eq!(credit(vec![signed(200, "case-1", &body)]).await, broken("its status is unknown"));
}

#[tokio::test]
async fn score_out_of_range_is_broken() {
    for score in [json!(299), json!(851), json!(720.5), json!("720"), json!(-1), json!(null)] {
        let body = body(&[("result", json!({ "score": score }))]);
        let result = credit(vec![signed(200, "case-1", &body)]).await;
        assert_eq!(result, broken("its result is not one of this check"), "{score}");
    }
}

#[tokio::test]
async fn a_status_that_contradicts_the_body_is_broken() {
    let contradiction = broken("its HTTP status is not that of its own");
    assert_eq!(credit(vec![signed(202, "case-1", &body(&[]))]).await, contradiction);
    for status in [201, 204, 206] {
        let result = credit(vec![signed(status, "case-1", &body(&[]))]).await;
        assert_eq!(result, broken("its HTTP status is unknown"), "{status}");
    }
}

#[tokio::test]
async fn unsigned_answer_is_broken_unless_configured() {
    let unsigned = || vec![answer(200, "", &body(&[]))];
    assert_eq!(credit(unsigned()).await, broken("it is not signed"));
    let server = Server::start(unsigned()).await;
    let trusting = bureau(&server, |settings| settings.require_signed_responses = false);
    assert_eq!(ask(&trusting, Check::SoftCredit, LONG_TIMEOUT).await, FOUND);
}

#[tokio::test]
async fn an_answer_with_a_wrong_signature_is_broken() {
    let Reply::Sends(right) = complete() else { panic!("an answer") };
    let altered = String::from_utf8(right).unwrap().replace("620", "850");
    assert_eq!(credit(vec![Reply::Sends(altered.into())]).await, broken("its signature is wrong"));
    let body = body(&[]);
    let headers = format!("Portico-Timestamp: {NOW}\r\nPortico-Signature: v1={}\r\n", "0".repeat(64));
    assert_eq!(credit(vec![answer(200, &headers, &body)]).await, broken("its signature is wrong"));
    // Signed for another case.
    assert_eq!(credit(vec![signed(200, "case-2", &body)]).await, broken("its signature is wrong"));
}

#[tokio::test]
async fn an_answer_that_was_signed_long_ago_is_broken() {
    let at = async |seconds: i64| credit(vec![signed_at(NOW + seconds, 200, "case-1", &body(&[]))]).await;
    for near in [-300, 300] {
        assert_eq!(at(near).await, FOUND);
    }
    for far in [-301, 301, -86_400, i64::MIN / 2] {
        assert_eq!(at(far).await, broken("it was signed at another time"));
    }
}

#[tokio::test]
async fn lost_answer_is_retried_under_the_same_reference() {
    let server = Server::start(vec![Reply::Closes, answer(500, "", ""), complete()]).await;
    let backoff = Backoff { first: Duration::from_millis(1), most: Duration::from_millis(1) };
    let policy =
        Policy { check_timeout: LONG_TIMEOUT, total_timeout: LONG_TIMEOUT, backoff, ..Policy::default() };
    let runner = Runner::new(&Routing::all(Arc::new(bureau(&server, |_| ()))), policy);
    let checks = vec![(Check::SoftCredit, reference("case-1"))];
    let run = CheckRun { applicant: Arc::new(applicant(&[])), country: country(), checks };
    let outcome = runner.run(&run).await.remove(0);
    assert_eq!((outcome.result.is_ok(), outcome.tries), (true, 3));
    let received = server.received();
    assert!(received.iter().all(|request| request.header("idempotency-key") == Some("case-1")));
    assert!(received.iter().all(|request| request.body == received[0].body));
}

#[test]
fn a_proxy_in_the_environment_is_not_used() {
    run_alone("http::a_check_is_answered", |process| {
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            process.env(name, "http://127.0.0.1:1");
        }
        process.env_remove("no_proxy").env_remove("NO_PROXY");
    });
}
