//! The runner, on a clock that moves only when everybody waits for it.

use std::sync::Arc;
use std::time::Duration;

use portico_screening::backoff::Jitter;
use portico_screening::breaker::State;
use portico_screening::{
    Bureau, BureauError, Check, Failure, Field, Finding, Order, Outcome, Policy, Routing, Runner, Sandbox,
    Why,
};
use tokio::task::JoinSet;
use tokio::time::{Instant, advance};

use crate::people::{applicant, assert_shows_nothing, country, reference};
use crate::scripted::{Scripted, Step, good};

const DOWN: Step = Step::Fails(BureauError::Unavailable { retry_after: None });

/// Waits are always as long as they may be.
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
    Runner::with_dice(routing, Policy::default(), Longest)
}

/// A runner whose checks are all served by a bureau that takes these steps.
fn scripted(steps: &[Step]) -> (Runner, Arc<Scripted>) {
    let bureau = Arc::new(Scripted::new("scripted", steps));
    let routing = Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>);
    (runner(&routing), bureau)
}

fn order_for(person: &[(Field, &str)], checks: &[Check]) -> Order {
    let name = |check: &Check| (*check, reference(&format!("case-1-{check}")));
    Order {
        applicant: Arc::new(applicant(person)),
        country: country(),
        checks: checks.iter().map(name).collect(),
    }
}

fn order(checks: &[Check]) -> Order {
    order_for(&[], checks)
}

/// Runs one check and says how it ended.
async fn run(runner: &Runner, check: Check) -> Outcome {
    runner.run(&order(&[check])).await.remove(0)
}

fn failed(error: BureauError) -> Result<Finding, Failure> {
    Err(Failure::new(Why::Bureau(error)))
}

#[tokio::test(start_paused = true)]
async fn four_checks_take_as_long_as_one() {
    let (runner, _) = scripted(&[Step::FindsAfter(seconds(2))]);
    let begun = Instant::now();
    let outcomes = runner.run(&order(&Check::ALL)).await;
    assert_eq!(begun.elapsed(), seconds(2));
    assert_eq!(outcomes.len(), 4);
    for outcome in outcomes {
        assert_eq!(outcome.result, Ok(good(outcome.check)));
        assert_eq!((outcome.tries, outcome.took, &*outcome.bureau), (1, seconds(2), "scripted"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_handed_over_while_the_others_are_still_under_way() {
    let quick = Arc::new(Scripted::new("quick", &[Step::FindsAfter(seconds(1))]));
    let slow = Arc::new(Scripted::new("slow", &[Step::FindsAfter(seconds(3))]));
    let routing = Routing::all(Arc::clone(&slow) as Arc<dyn Bureau>).with(Check::Income, quick);
    let begun = Instant::now();
    let mut running = runner(&routing).start(&order(&[Check::Eviction, Check::Income]));
    let first = running.next().await.unwrap();
    assert_eq!((first.check, &*first.bureau, begun.elapsed()), (Check::Income, "quick", seconds(1)));
    assert_eq!(slow.asked_now(), 1);
    // Storing it takes the caller a while; the other check goes on meanwhile.
    advance(seconds(8)).await;
    let second = running.next().await.unwrap();
    assert_eq!((second.check, second.result), (Check::Eviction, Ok(good(Check::Eviction))));
    assert!(running.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_check_that_never_ends_is_given_up_at_its_own_deadline_and_spoils_no_other() {
    let hangs = Arc::new(Scripted::new("hangs", &[Step::Hangs]));
    let well = Arc::new(Scripted::new("well", &[Step::Finds]));
    let routing = Routing::all(well).with(Check::SoftCredit, Arc::clone(&hangs) as Arc<dyn Bureau>);
    let begun = Instant::now();
    let outcomes = runner(&routing).run(&order(&Check::ALL)).await;
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
    assert_eq!((hangs.asked_now(), hangs.times().len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_passing_failure_is_tried_again_after_longer_and_longer_waits_under_the_same_reference() {
    let (runner, bureau) = scripted(&[DOWN, Step::Fails(BureauError::TooSlow), DOWN, Step::Finds]);
    let outcome = run(&runner, Check::Eviction).await;
    assert_eq!((outcome.result, outcome.tries), (Ok(good(Check::Eviction)), 4));
    assert_eq!(bureau.times(), [0, 200, 600, 1400]);
    assert_eq!(bureau.references(), ["case-1-eviction"; 4]);
}

#[tokio::test(start_paused = true)]
async fn after_four_tries_it_is_over() {
    let (runner, bureau) = scripted(&[DOWN]);
    let outcome = run(&runner, Check::Eviction).await;
    assert_eq!(outcome.result, failed(BureauError::Unavailable { retry_after: None }));
    assert_eq!((outcome.tries, bureau.times().len()), (4, 4));
}

#[tokio::test(start_paused = true)]
async fn what_another_try_would_not_change_is_not_tried_again() {
    for error in [BureauError::Refused, BureauError::Broken("it is strange")] {
        let (runner, bureau) = scripted(&[Step::Fails(error)]);
        assert_eq!(run(&runner, Check::Income).await.result, failed(error));
        assert_eq!(bureau.times(), [0]);
    }
    let refused = Failure::new(Why::Bureau(BureauError::Refused));
    assert_eq!(refused.retry_after_seconds(), None);
}

#[tokio::test(start_paused = true)]
async fn a_bureau_that_asks_for_patience_gets_it() {
    let busy = BureauError::Busy { retry_after: Some(seconds(3)) };
    let (runner, bureau) = scripted(&[Step::Fails(busy), Step::Finds]);
    assert_eq!(run(&runner, Check::Income).await.result, Ok(good(Check::Income)));
    assert_eq!(bureau.times(), [0, 3000]);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_try_that_would_come_too_late() {
    let error = BureauError::Unavailable { retry_after: Some(seconds(60)) };
    let (runner, bureau) = scripted(&[Step::Fails(error)]);
    let begun = Instant::now();
    let outcome = run(&runner, Check::Income).await;
    assert_eq!((begun.elapsed(), bureau.times().len()), (seconds(0), 1));
    assert_eq!(outcome.result.unwrap_err().retry_after_seconds(), Some(60));
}

#[tokio::test(start_paused = true)]
async fn a_bureau_is_not_asked_while_inputs_are_missing() {
    let (runner, bureau) = scripted(&[Step::Finds]);
    let mut order = order(&Check::ALL);
    order.applicant = Arc::default();
    for outcome in runner.run(&order).await {
        assert_eq!((outcome.result, outcome.tries), (Err(Failure::new(Why::Incomplete)), 0));
    }
    assert!(bureau.times().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_finding_of_another_check_is_not_used() {
    let (runner, _) = scripted(&[Step::FindsSomethingElse]);
    let broken = BureauError::Broken("it is about another check");
    assert_eq!(run(&runner, Check::SoftCredit).await.result, failed(broken));
}

#[tokio::test(start_paused = true)]
async fn a_bureau_that_fails_again_and_again_is_left_alone_for_that_check_only() {
    let (runner, bureau) = scripted(&[DOWN, DOWN, DOWN, DOWN, DOWN, Step::Finds]);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    assert_eq!(runner.health()[0].circuit, State::Closed);
    // The fifth failure in a row opens the circuit; the next try of the same check finds it so.
    let outcome = run(&runner, Check::Eviction).await;
    let left = Duration::from_millis(29_800);
    assert_eq!(outcome.result, Err(Failure::new(Why::CircuitOpen { left })));
    assert_eq!((outcome.tries, bureau.times().len()), (1, 5));
    assert_eq!(outcome.result.unwrap_err().retry_after_seconds(), Some(30));
    // Nobody asks it any more, except about other things.
    let outcome = run(&runner, Check::Eviction).await;
    assert_eq!((outcome.tries, outcome.took), (0, seconds(0)));
    assert_eq!(run(&runner, Check::Income).await.result, Ok(good(Check::Income)));
    assert_eq!(bureau.times().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_bureau_that_was_left_alone_is_probed_by_one_and_comes_back() {
    let steps = [DOWN, DOWN, DOWN, DOWN, DOWN, DOWN, Step::FindsAfter(seconds(1)), Step::Finds];
    let (runner, bureau) = scripted(&steps);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    run(&runner, Check::Eviction).await.result.unwrap_err();
    assert!(matches!(runner.health()[0].circuit, State::Open { .. }));

    // The first probe fails.
    advance(seconds(30)).await;
    assert_eq!(runner.health()[0].circuit, State::HalfOpen);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    assert_eq!((bureau.times().len(), runner.health()[0].opened), (6, 2));

    // Of two at once only one probes, and it succeeds.
    advance(seconds(30)).await;
    let (one, two) = tokio::join!(run(&runner, Check::Eviction), run(&runner, Check::Eviction));
    assert_eq!(one.result, Ok(good(Check::Eviction)));
    assert_eq!(two.result.unwrap_err().kind(), "circuit_open");
    let health = &runner.health()[0];
    assert_eq!((health.circuit, health.answered, health.failed), (State::Closed, 1, 6));
    assert_eq!(run(&runner, Check::Eviction).await.result, Ok(good(Check::Eviction)));
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_was_given_up_does_not_keep_the_circuit_open() {
    let (runner, bureau) = scripted(&[DOWN, DOWN, DOWN, DOWN, DOWN, Step::Hangs, Step::Finds]);
    run(&runner, Check::Eviction).await.result.unwrap_err();
    run(&runner, Check::Eviction).await.result.unwrap_err();
    advance(seconds(30)).await;
    let running = runner.start(&order(&[Check::Eviction]));
    tokio::task::yield_now().await;
    assert_eq!(bureau.asked_now(), 1);
    drop(running);
    tokio::task::yield_now().await;
    assert_eq!(bureau.asked_now(), 0);
    assert_eq!(run(&runner, Check::Eviction).await.result, Ok(good(Check::Eviction)));
}

#[tokio::test(start_paused = true)]
async fn refusals_and_pleas_for_patience_do_not_open_a_circuit() {
    let busy = BureauError::Busy { retry_after: Some(seconds(60)) };
    for error in [BureauError::Refused, busy] {
        let (runner, bureau) = scripted(&[Step::Fails(error)]);
        for _ in 0..20 {
            assert_eq!(run(&runner, Check::Income).await.result, failed(error));
        }
        assert_eq!((bureau.times().len(), runner.health()[1].circuit), (20, State::Closed));
    }
}

#[tokio::test(start_paused = true)]
async fn in_the_sandbox_somebody_who_is_called_down_shuts_nobody_out() {
    let runner = runner(&Routing::all(Arc::new(Sandbox::new(&vec![1; 32].into()))));
    for _ in 0..10 {
        for outcome in runner.run(&order_for(&[(Field::LastName, "Down")], &Check::ALL)).await {
            assert_eq!(outcome.result, failed(BureauError::Unavailable { retry_after: None }));
            assert_eq!(outcome.tries, 4);
        }
    }
    for outcome in runner.run(&order_for(&[(Field::LastName, "Timeout")], &Check::ALL)).await {
        assert_eq!((outcome.result, outcome.took), (failed(BureauError::TooSlow), seconds(10)));
    }
    for outcome in runner.run(&order(&Check::ALL)).await {
        assert!(outcome.result.is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_are_asked_at_once_than_the_bureau_takes() {
    let bureau = Arc::new(Scripted::new("small", &[Step::FindsAfter(seconds(1))]).at_once(3));
    let runner = runner(&Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>));
    let begun = Instant::now();
    let (one, two) = (order(&Check::ALL), order(&Check::ALL));
    let (one, two) = tokio::join!(runner.run(&one), runner.run(&two));
    assert!(one.iter().chain(&two).all(|outcome| outcome.result.is_ok()));
    assert_eq!((begun.elapsed(), bureau.peak()), (seconds(3), 3));
    assert_eq!(runner.health()[0].in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_room_in_time_is_sent_away_at_the_deadline_of_the_whole() {
    let bureau = Arc::new(Scripted::new("small", &[Step::FindsAfter(seconds(8))]).at_once(1));
    let runner = runner(&Routing::all(bureau));
    let begun = Instant::now();
    let mut outcomes = runner.run(&order(&[Check::Eviction, Check::Income, Check::SoftCredit])).await;
    assert_eq!(begun.elapsed(), seconds(15));
    outcomes.sort_by_key(|outcome| outcome.check);
    assert_eq!(outcomes[0].result, Ok(good(Check::Eviction)));
    // This one got its turn after 8 seconds; the whole was over before its own ten seconds were.
    assert_eq!(outcomes[1].result, failed(BureauError::TooSlow));
    assert_eq!(outcomes[2].result, Err(Failure::new(Why::Crowded)));
}

#[tokio::test(start_paused = true)]
async fn a_bureau_is_not_blamed_for_those_who_come_too_late() {
    let steps = [Step::FindsAfter(seconds(7)), Step::FindsAfter(seconds(7)), Step::Hangs];
    let bureau = Arc::new(Scripted::new("small", &steps).at_once(1));
    let runner = runner(&Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>));
    // The third gets its turn after 14 seconds, and one second is not enough to judge by.
    let outcomes = runner.run(&order(&[Check::Income; 3])).await;
    let slow = outcomes.iter().filter(|outcome| outcome.result == failed(BureauError::TooSlow));
    assert_eq!((slow.count(), bureau.times()), (1, vec![0, 7000, 14_000]));
    assert_eq!((runner.health()[1].answered, runner.health()[1].failed), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn two_hundred_verifications_at_once_take_as_long_as_one() {
    let bureau = Arc::new(Scripted::new("slow", &[Step::FindsAfter(seconds(2))]).at_once(1024));
    let runner = runner(&Routing::all(Arc::clone(&bureau) as Arc<dyn Bureau>));
    let begun = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..200 {
        let runner = runner.clone();
        all.spawn(async move { runner.run(&order(&Check::ALL)).await });
    }
    let outcomes: Vec<Outcome> = all.join_all().await.into_iter().flatten().collect();
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!((outcomes.len(), bureau.peak(), begun.elapsed()), (800, 800, seconds(2)));
}

#[tokio::test(start_paused = true)]
async fn a_fault_in_a_bureaus_code_is_one_failed_check_and_no_more() {
    let faulty = Arc::new(Scripted::new("faulty", &[Step::Panics]));
    let well = Arc::new(Scripted::new("well", &[Step::Finds]));
    let runner = runner(&Routing::all(well).with(Check::Income, faulty));
    for outcome in runner.run(&order(&Check::ALL)).await {
        match outcome.check {
            Check::Income => {
                assert_eq!(outcome.result, Err(Failure::new(Why::BrokenOff)));
                assert_eq!(outcome.bureau, "faulty");
            }
            check => assert_eq!(outcome.result, Ok(good(check))),
        }
    }
    assert_eq!(runner.health()[1].in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn giving_up_an_order_gives_up_its_checks() {
    let (runner, bureau) = scripted(&[Step::Hangs]);
    let running = runner.start(&order(&Check::ALL));
    tokio::task::yield_now().await;
    assert_eq!(bureau.asked_now(), 4);
    drop(running);
    tokio::task::yield_now().await;
    assert_eq!(bureau.asked_now(), 0);
    assert_eq!(runner.health()[0].in_flight, 0);
}

#[tokio::test(start_paused = true)]
async fn neither_orders_nor_outcomes_show_the_applicant() {
    let (runner, _) = scripted(&[DOWN, Step::Finds]);
    let order = order(&Check::ALL);
    assert_shows_nothing(&format!("{order:?} {runner:?}"));
    for outcome in runner.run(&order).await {
        assert_shows_nothing(&format!("{outcome:?}"));
    }
}
