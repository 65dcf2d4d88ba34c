//! The intervals between the polls of a wait.

use docplatform::error::Kind;
use docplatform::job::wait::{Wait, WaitOptions, wait};
use tokio::time::Instant;

use crate::helpers::support::{Recorder, Script, client_with, options, secs};
use crate::job::waits::{how, round, shows, target, times, wait_for};

/// As users wait who give nothing.
pub(crate) const DEFAULTS: WaitOptions = WaitOptions {
    timeout: Some(1800.0),
    poll_interval: None,
    max_poll_interval: None,
    check: true,
    also_final: Vec::new(),
    settle: 0.0,
};

#[tokio::test(start_paused = true)]
async fn intervals_grow_up_to_their_cap() {
    let begun = Instant::now();
    let mut polls = 0;
    let script = Script::each(move |_| {
        polls += 1;
        shows(if polls < 12 { "active" } else { "completed" })
    });
    assert_eq!(wait_for(&script, &how()).await.unwrap().status, "completed");
    let gaps: Vec<_> = script
        .gaps()
        .iter()
        .map(|gap| round(gap.as_secs_f64()))
        .collect();
    assert_eq!(
        gaps,
        [
            2.0, 3.0, 4.5, 6.75, 10.13, 15.19, 22.78, 30.0, 30.0, 30.0, 30.0
        ]
    );
    assert!(times(&script, begun)[0] < 0.01, "the first look is at once");
}

/// Rows: F7.
#[tokio::test(start_paused = true)]
async fn every_interval_is_shorter_or_longer_by_a_fifth_at_most() {
    for (jitter, factor) in [(0.0, 0.8), (0.25, 0.9), (1.0, 1.2)] {
        let script = Script::new([
            shows("active"),
            shows("active"),
            shows("active"),
            shows("completed"),
        ]);
        let client = client_with(&script, &options(), jitter);
        wait(&client, target(), &how(), &Recorder::default())
            .await
            .unwrap();
        let gaps: Vec<_> = script
            .gaps()
            .iter()
            .map(|gap| round(gap.as_secs_f64()))
            .collect();
        assert_eq!(gaps, [2.0, 3.0, 4.5].map(|gap| round(gap * factor)));
    }
    let script = Script::new([shows("active"), shows("active"), shows("completed")]);
    let flat = Wait {
        poll_interval: secs(30),
        ..how()
    };
    wait(
        &client_with(&script, &options(), 1.0),
        target(),
        &flat,
        &Recorder::default(),
    )
    .await
    .unwrap();
    assert_eq!(script.gaps(), [secs(36), secs(36)]);
}

/// Rows: F8.
#[test]
fn intervals_that_make_no_sense_are_refused() {
    let refused = |options: WaitOptions| options.validate().unwrap_err();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = refused(WaitOptions {
            poll_interval: Some(bad),
            ..DEFAULTS
        });
        assert!(
            error.kind == Kind::Argument && error.to_string().starts_with("poll_interval"),
            "{error}"
        );
        let error = refused(WaitOptions {
            max_poll_interval: Some(bad),
            ..DEFAULTS
        });
        assert!(
            error.to_string().starts_with("max_poll_interval"),
            "{error}"
        );
        if bad != 0.0 {
            let error = refused(WaitOptions {
                timeout: Some(bad),
                ..DEFAULTS
            });
            assert!(error.to_string().starts_with("timeout"), "{error}");
            assert!(
                refused(WaitOptions {
                    settle: bad,
                    ..DEFAULTS
                })
                .to_string()
                .starts_with("settle")
            );
        }
    }
    let error = refused(WaitOptions {
        poll_interval: Some(3.0),
        max_poll_interval: Some(2.0),
        ..DEFAULTS
    });
    assert!(
        error.to_string().contains("longer than max_poll_interval"),
        "{error}"
    );
    for bad in ["", "active"] {
        let error = refused(WaitOptions {
            also_final: vec![bad.to_owned()],
            ..DEFAULTS
        });
        assert!(error.to_string().starts_with("final must name"), "{error}");
    }
}

#[test]
fn one_interval_moves_the_others_default() {
    let intervals = |poll_interval, max_poll_interval| {
        let wait = WaitOptions {
            poll_interval,
            max_poll_interval,
            ..DEFAULTS
        }
        .validate()
        .unwrap();
        (
            wait.poll_interval.as_secs_f64(),
            wait.max_poll_interval.as_secs_f64(),
        )
    };
    for (given, used) in [
        ((None, None), (2.0, 30.0)),
        ((Some(1.0), None), (1.0, 30.0)),
        ((Some(60.0), None), (60.0, 60.0)),
        ((None, Some(1.0)), (1.0, 1.0)),
        ((None, Some(60.0)), (2.0, 60.0)),
        ((Some(5.0), Some(5.0)), (5.0, 5.0)),
    ] {
        assert_eq!(intervals(given.0, given.1), used);
    }
}
