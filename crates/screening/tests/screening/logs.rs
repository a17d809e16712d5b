//! The log at its most verbose level.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use portico_domain::Timestamp;
use portico_screening::backoff::Backoff;
use portico_screening::http::HttpBureauSettings;
use portico_screening::{Bureau, Check, CheckRun, HttpBureau, Policy, Routing, Runner, Sandbox};
use tracing_subscriber::filter::LevelFilter;

use crate::people::{applicant, assert_shows_nothing, country, reference};
use crate::process::run_alone;
use crate::server::{NOW, Reply, SECRET, Server, answer};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn run(bureau: Arc<dyn Bureau>) {
    let backoff = Backoff { first: Duration::from_millis(1), most: Duration::from_millis(1) };
    let runner = Runner::new(&Routing::all(bureau), Policy { backoff, ..Policy::default() });
    let checks = Check::ALL.map(|check| (check, reference(check.name()))).to_vec();
    runner.run(&CheckRun { applicant: Arc::new(applicant(&[])), country: country(), checks }).await;
}

#[test]
fn log_never_shows_the_applicant() {
    run_alone("logs::all_lines_of_this_process", |_| ());
}

#[tokio::test]
#[ignore = "takes the log of the whole process: the test above runs it alone"]
async fn all_lines_of_this_process() {
    let lines = Lines::default();
    let writer = lines.clone();
    let log =
        tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_writer(move || writer.clone());
    log.init();

    let echo = r#"{"SSN":"912-34-5678","LastName":"Zaubermann","OpenBankingToken":"token-canary-271828"}"#;
    let replies = vec![answer(422, "", echo), answer(200, "", echo), Reply::Closes, answer(500, "", echo)];
    let server = Server::start(replies).await;
    let settings = HttpBureauSettings::new("vendor", &server.url, SECRET.into());
    let now = Arc::new(|| Timestamp::from_micros(NOW * 1_000_000));
    run(Arc::new(HttpBureau::new(settings, now).unwrap())).await;
    run(Arc::new(Sandbox::new(&vec![1; 32].into()))).await;
    tracing::trace!("a planted control value");

    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("a planted control value"));
    assert!(log.contains("a bureau gave no finding"));
    assert_shows_nothing(&log);
}
