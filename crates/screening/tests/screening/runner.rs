//! The runner on a paused clock.

use std::sync::Arc;
use std::time::Duration;

use portico_screening::backoff::Jitter;
use portico_screening::breaker::State;
use portico_screening::{
    ApplicantField, Bureau, BureauError, Check, CheckRun, Failure, FailureReason, Finding, Outcome, Policy,
    Routing, Runner, Sandbox,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, advance};

use crate::people::{applicant, assert_shows_nothing, country, reference};
use crate::scripted::{ScriptStep, Scripted, good};

const DOWN: ScriptStep = ScriptStep::Fails(BureauError::Unavailable { retry_after: None });

/// Waits are always maximal.
struct Longest;

impl Jitter for Longest {
    fn up_to(&self, most: u64) -> u64 {
        most
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn runner(routing: &Routing) -> Runner {
    Runner::with_jitter(routing, Policy::default(), Longest)
}

/// All checks go to a bureau with this script.
fn scripted(steps: &[ScriptStep]) -> (Runner, Arc<Scripted>) {
    let bureau = Arc::new(Scripted::new("scripted", steps));
    let routing = Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>);
    (runner(&routing), bureau)
}

fn run_for(person: &[(ApplicantField, &str)], checks: &[Check]) -> CheckRun {
    let name = |check: &Check| (*check, reference(&format!("case-1-{check}")));
    CheckRun {
        applicant: Arc::new(applicant(person)),
        country: country(),
        checks: checks.iter().map(name).collect(),
    }
}

fn check_run(checks: &[Check]) -> CheckRun {
    run_for(&[], checks)
}

async fn run(runner: &Runner, check: Check) -> Outcome {
    runner.run(&check_run(&[check])).await.remove(0)
}

fn failed(error: BureauError) -> Result<Finding, Failure> {
    Err(Failure::new(FailureReason::Bureau(error)))
}

#[tokio::test(start_paused = true)]
async fn four_checks_take_as_long_as_one() {
    let (runner, _) = scripted(&[ScriptStep::FindsAfter(seconds(2))]);
    let begun = Instant::now();
    let outcomes = runner.run(&check_run(&Check::ALL)).await;
    assert_eq!(begun.elapsed(), seconds(2));
    assert_eq!(outcomes.len(), 4);
    for outcome in outcomes {
        assert_eq!(outcome.result, Ok(good(outcome.check)));
        assert_eq!((outcome.tries, outcome.took, &*outcome.bureau), (1, seconds(2), "scripted"));
    }
}

#[tokio::test(start_paused = true)]
async fn outcome_is_returned_while_others_run() {
    let quick = Arc::new(Scripted::new("quick", &[ScriptStep::FindsAfter(seconds(1))]));
    let slow = Arc::new(Scripted::new("slow", &[ScriptStep::FindsAfter(seconds(3))]));
    let routing = Routing::all(Arc::clone(&slow) as Arc<dyn Bureau>).with(Check::Income, quick);
    let begun = Instant::now();
    let mut running = runner(&routing).start(&check_run(&[Check::Eviction, Check::Income]));
    let first = running.next().await.unwrap();
    assert_eq!((first.check, &*first.bureau, begun.elapsed()), (Check::Income, "quick", seconds(1)));
    assert_eq!(slow.in_flight(), 1);
    // The other check continues while the caller stores this outcome.
    advance(seconds(8)).await;
    let second = running.next().await.unwrap();
    assert_eq!((second.check, second.result), (Check::Eviction, Ok(good(Check::Eviction))));
    assert!(running.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn hanging_check_ends_at_its_deadline_alone() {
    let hangs = Arc::new(Scripted::new("hangs", &[ScriptStep::Hangs]));
    let well = Arc::new(Scripted::new("well", &[ScriptStep::Finds]));
    let routing = Routing::all(well).with(Check::SoftCredit, Arc::clone(&hangs) as Arc<dyn Bureau>);
    let begun = Instant::now();
    let outcomes = runner(&routing).run(&check_run(&Check::ALL)).await;
    assert_eq!(begun.elapsed(), seconds(10));
    for outcome in outcomes {
        match outcome.check {
            Check::SoftCredit => {
                assert_eq!(outcome.result, failed(BureauError::TooSlow));
                assert_eq!(outcome.result.unwrap_err().retry_after_seconds(), Some(5));
            }
            check => assert_eq!(outcome.result, Ok(good(check))),
        }
    }
    assert_eq!((hangs.in_flight(), hangs.times().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn transient_failure_is_retried_with_backoff() {
    let (runner, bureau) =
        scripted(&[DOWN, ScriptStep::Fails(BureauError::TooSlow), DOWN, ScriptStep::Finds]);
    let outcome = run(&runner, Check::Eviction).await;
    assert_eq!((outcome.result, outcome.tries), (Ok(good(Check::Eviction)), 4));
    assert_eq!(bureau.times(), [0, 200, 600, 1400]);
    assert_eq!(bureau.references(), ["case-1-eviction"; 4]);
}

#[tokio::test(start_paused = true)]
async fn gives_up_after_four_tries() {
    let (runner, bureau) = scripted(&[DOWN]);
    let outcome = run(&runner, Check::Eviction).await;
    assert_eq!(outcome.result, failed(BureauError::Unavailable { retry_after: None }));
    assert_eq!((outcome.tries, bureau.times().len()), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn permanent_failure_is_not_retried() {
    for error in [BureauError::Refused, BureauError::Broken("it is strange")] {
        let (runner, bureau) = scripted(&[ScriptStep::Fails(error)]);
        assert_eq!(run(&runner, Check::Income).await.result, failed(error));
        assert_eq!(bureau.times(), [0]);
    }
    let refused = Failure::new(FailureReason::Bureau(BureauError::Refused));
    assert_eq!(refused.retry_after_seconds(), None);
}

#[tokio::test(start_paused = true)]
async fn waits_for_retry_after() {
    let busy = BureauError::Busy { retry_after: Some(seconds(3)) };
    let (runner, bureau) = scripted(&[ScriptStep::Fails(busy), ScriptStep::Finds]);
    assert_eq!(run(&runner, Check::Income).await.result, Ok(good(Check::Income)));
    assert_eq!(bureau.times(), [0, 3000]);
}

#[tokio::test(start_paused = true)]
async fn skips_a_retry_after_the_deadline() {
    let error = BureauError::Unavailable { retry_after: Some(seconds(60)) };
    let (runner, bureau) = scripted(&[ScriptStep::Fails(error)]);
    let begun = Instant::now();
    let outcome = run(&runner, Check::Income).await;
    assert_eq!((begun.elapsed(), bureau.times().len()), (seconds(0), 1));
    assert_eq!(outcome.result.unwrap_err().retry_after_seconds(), Some(60));
}

#[tokio::test(start_paused = true)]
async fn a_bureau_is_not_asked_while_inputs_are_missing() {
    let (runner, bureau) = scripted(&[ScriptStep::Finds]);
    let mut run = check_run(&Check::ALL);
    run.applicant = Arc::default();
    for outcome in runner.run(&run).await {
        assert_eq!((outcome.result, outcome.tries), (Err(Failure::new(FailureReason::Incomplete)), 0));
    }
    assert!(bureau.times().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_finding_of_another_check_is_not_used() {
    let (runner, _) = scripted(&[ScriptStep::FindsSomethingElse]);
    let broken = BureauError::Broken("it is about another check");
    assert_eq!(run(&runner, Check::SoftCredit).await.result, failed(broken));
}

#[tokio::test(start_paused = true)]
async fn circuit_opens_per_check() {
    let (runner, bureau) = scripted(&[DOWN, DOWN, DOWN, DOWN, DOWN, ScriptStep::Finds]);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    assert_eq!(runner.health()[0].circuit, State::Closed);
    // The fifth consecutive failure opens the circuit; the next try of the same check finds it open.
    let outcome = run(&runner, Check::Eviction).await;
    let left = Duration::from_millis(29_800);
    assert_eq!(outcome.result, Err(Failure::new(FailureReason::CircuitOpen { left })));
    assert_eq!((outcome.tries, bureau.times().len()), (1, 5));
    assert_eq!(outcome.result.unwrap_err().retry_after_seconds(), Some(30));
    // No more requests for this check; other checks continue.
    let outcome = run(&runner, Check::Eviction).await;
    assert_eq!((outcome.tries, outcome.took), (0, seconds(0)));
    assert_eq!(run(&runner, Check::Income).await.result, Ok(good(Check::Income)));
    assert_eq!(bureau.times().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn one_probe_closes_the_circuit() {
    let steps = [DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, ScriptStep::FindsAfter(seconds(1)), ScriptStep::Finds];
    let (runner, bureau) = scripted(&steps);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    run(&runner, Check::Eviction).await.result.unwrap_err();
    assert!(matches!(runner.health()[0].circuit, State::Open { .. }));

    advance(seconds(30)).await;
    assert_eq!(runner.health()[0].circuit, State::HalfOpen);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    assert_eq!((bureau.times().len(), runner.health()[0].opened), (6, 2));

    // Only one of two concurrent requests probes, and it succeeds.
    advance(seconds(30)).await;
    let (one, two) = tokio::join!(run(&runner, Check::Eviction), run(&runner, Check::Eviction));
    assert_eq!(one.result, Ok(good(Check::Eviction)));
    assert_eq!(two.result.unwrap_err().kind(), "circuit_open");
    let health = &runner.health()[0];
    assert_eq!((health.circuit, health.answered, health.failed), (State::Closed, 1, 6));
    assert_eq!(run(&runner, Check::Eviction).await.result, Ok(good(Check::Eviction)));
}

#[tokio::test(start_paused = true)]
async fn abandoned_probe_does_not_keep_the_circuit_open() {
    let (runner, bureau) = scripted(&[DOWN, DOWN, DOWN, DOWN, DOWN, ScriptStep::Hangs, ScriptStep::Finds]);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    run(&runner, Check::Eviction).await.result.unwrap_err();
    advance(seconds(30)).await;
    let running = runner.start(&check_run(&[Check::Eviction]));
    tokio::task::yield_now().await;
    assert_eq!(bureau.in_flight(), 1);
    drop(running);
    tokio::task::yield_now().await;
    assert_eq!(bureau.in_flight(), 0);
    assert_eq!(run(&runner, Check::Eviction).await.result, Ok(good(Check::Eviction)));
}

#[tokio::test(start_paused = true)]
async fn refusals_and_busy_do_not_open_the_circuit() {
    let busy = BureauError::Busy { retry_after: Some(seconds(60)) };
    for error in [BureauError::Refused, busy] {
        let (runner, bureau) = scripted(&[ScriptStep::Fails(error)]);
        for _ in 0..20 {
            assert_eq!(run(&runner, Check::Income).await.result, failed(error));
        }
        assert_eq!((bureau.times().len(), runner.health()[1].circuit), (20, State::Closed));
    }
}

#[tokio::test(start_paused = true)]
async fn sandbox_failures_do_not_affect_other_people() {
    let runner = runner(&Routing::all(Arc::new(Sandbox::new(&vec![1; 32].into()))));
    for _ in 0..10 {
        for outcome in runner.run(&run_for(&[(ApplicantField::LastName, "Down")], &Check::ALL)).await {
            assert_eq!(outcome.result, failed(BureauError::Unavailable { retry_after: None }));
            assert_eq!(outcome.tries, 4);
        }
    }
    for outcome in runner.run(&run_for(&[(ApplicantField::LastName, "Timeout")], &Check::ALL)).await {
        assert_eq!((outcome.result, outcome.took), (failed(BureauError::TooSlow), seconds(10)));
    }
    for outcome in runner.run(&check_run(&Check::ALL)).await {
        assert!(outcome.result.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn concurrency_limit_is_respected() {
    let bureau =
        Arc::new(Scripted::new("small", &[ScriptStep::FindsAfter(seconds(1))]).with_max_concurrency(3));
    let runner = runner(&Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>));
    let begun = Instant::now();
    let (one, two) = (check_run(&Check::ALL), check_run(&Check::ALL));
    let (one, two) = tokio::join!(runner.run(&one), runner.run(&two));
    assert!(one.iter().chain(&two).all(|outcome| outcome.result.is_ok()));
    assert_eq!((begun.elapsed(), bureau.peak()), (seconds(3), 3));
    assert_eq!(runner.health()[0].in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn no_capacity_ends_at_the_total_timeout() {
    let bureau =
        Arc::new(Scripted::new("small", &[ScriptStep::FindsAfter(seconds(8))]).with_max_concurrency(1));
    let runner = runner(&Routing::all(bureau));
    let begun = Instant::now();
    let mut outcomes = runner.run(&check_run(&[Check::Eviction, Check::Income, Check::SoftCredit])).await;
    assert_eq!(begun.elapsed(), seconds(15));
    outcomes.sort_by_key(|outcome| outcome.check);
    assert_eq!(outcomes[0].result, Ok(good(Check::Eviction)));
    // This one started after 8 seconds; the total timeout ended before its own ten seconds.
    assert_eq!(outcomes[1].result, failed(BureauError::TooSlow));
    assert_eq!(outcomes[2].result, Err(Failure::new(FailureReason::NoCapacity)));
}

#[tokio::test(start_paused = true)]
async fn late_start_does_not_blame_the_bureau() {
    let steps = [ScriptStep::FindsAfter(seconds(7)), ScriptStep::FindsAfter(seconds(7)), ScriptStep::Hangs];
    let bureau = Arc::new(Scripted::new("small", &steps).with_max_concurrency(1));
    let runner = runner(&Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>));
    // The third starts after 14 seconds, and one second is not enough to blame the bureau.
    let outcomes = runner.run(&check_run(&[Check::Income; 3])).await;
    let slow = outcomes.iter().filter(|outcome| outcome.result == failed(BureauError::TooSlow));
    assert_eq!((slow.count(), bureau.times()), (1, vec![0, 7000, 14_000]));
    assert_eq!((runner.health()[1].answered, runner.health()[1].failed), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn two_hundred_verifications_at_once_take_as_long_as_one() {
    let bureau =
        Arc::new(Scripted::new("slow", &[ScriptStep::FindsAfter(seconds(2))]).with_max_concurrency(1024));
    let runner = runner(&Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>));
    let begun = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..200 {
        let runner = runner.clone();
        all.spawn(async move { runner.run(&check_run(&Check::ALL)).await });
    }
    let outcomes: Vec<Outcome> = all.join_all().await.into_iter().flatten().collect();
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!((outcomes.len(), bureau.peak(), begun.elapsed()), (800, 800, seconds(2)));
}

#[tokio::test(start_paused = true)]
async fn panic_in_a_bureau_fails_one_check() {
    let faulty = Arc::new(Scripted::new("faulty", &[ScriptStep::Panics]));
    let well = Arc::new(Scripted::new("well", &[ScriptStep::Finds]));
    let runner = runner(&Routing::all(well).with(Check::Income, faulty));
    for outcome in runner.run(&check_run(&Check::ALL)).await {
        match outcome.check {
            Check::Income => {
                assert_eq!(outcome.result, Err(Failure::new(FailureReason::Panicked)));
                assert_eq!(outcome.bureau, "faulty");
            }
            check => assert_eq!(outcome.result, Ok(good(check))),
        }
    }
    assert_eq!(runner.health()[1].in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn dropping_an_order_cancels_its_checks() {
    let (runner, bureau) = scripted(&[ScriptStep::Hangs]);
    let running = runner.start(&check_run(&Check::ALL));
    tokio::task::yield_now().await;
    assert_eq!(bureau.in_flight(), 4);
    drop(running);
    tokio::task::yield_now().await;
    assert_eq!(bureau.in_flight(), 0);
    assert_eq!(runner.health()[0].in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn orders_and_outcomes_do_not_show_the_applicant() {
    let (runner, _) = scripted(&[DOWN, ScriptStep::Finds]);
    let run = check_run(&Check::ALL);
    assert_shows_nothing(&format!("{run:?} {runner:?}"));
    for outcome in runner.run(&run).await {
        assert_shows_nothing(&format!("{outcome:?}"));
    }
}
