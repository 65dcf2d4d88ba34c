"""Plants bugs in the core, one at a time, and looks whether the simulation finds each: `make mutants`.

A bug is a file, a line of it and what stands there instead. Arguments choose bugs by a part of their names.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[3]
SEEDS = int(os.environ.get("SEEDS", "10000"))
# A bug may make the client go round without end.
SECONDS = 300
PROFILE = ["--locked", "--no-default-features", "--quiet", "--profile", "light", "--test", "simulation"]

PAGER, TRAIL, DEDUPE = "src/export/pager.rs", "src/export/trail.rs", "src/export/dedupe.rs"
STORED, SERVICE = "src/export/stored.rs", "src/export/service.rs"
RETRY, CALL, THROTTLE = "src/client/retry.rs", "src/client/call.rs", "src/client/throttle.rs"
ADMISSION, ATTEMPT = "src/client/admission.rs", "src/client/attempt.rs"
POLICY, BUDGET, LEDGER = "src/budget/policy.rs", "src/budget/mod.rs", "src/budget/ledger.rs"
TABLE, PAGES, EXPORTS = "src/store/export_table.rs", "src/store/pages.rs", "src/store/exports.rs"
ONCE, NAMES = "src/job/once.rs", "src/store/once.rs"

MUTANTS: dict[str, tuple[str, str, str]] = {
    # paging
    "pager-steps-by-limit": (
        TRAIL,
        "if shape.has_more && is_short { shape.received } else { shape.limit }",
        "shape.limit",
    ),
    "pager-empty-page-goes-on": (PAGER, "if received == 0 {", "if false {"),
    "pager-same-page-goes-on": (PAGER, "if self.seen.page_again(&identities) {", "if false {"),
    "pager-cursor-comes-again": (
        PAGER,
        "if !self.cursors.insert(xxh3_64(cursor.as_bytes())) {",
        "if false {",
    ),
    "pager-keeps-repeats": (PAGER, "if watch && repeats.iter()", "if false && repeats.iter()"),
    "pager-no-room-left": (PAGER, "positions.truncate(most);", ""),
    "pager-row-too-many": (PAGER, "self.handed += count as u64;", ""),
    "pager-takes-what-was-asked-elsewhere": (PAGER, "is_none_or(|ahead| ahead.at != self.at())", "is_none()"),
    "pager-keeps-what-is-ahead": (
        PAGER,
        "if self.finished || self.ahead.front().is_some_and(|ahead| ahead.at != self.at()) {",
        "if false {",
    ),
    "pager-asks-beyond-the-rows": (
        PAGER,
        "if self.finished || self.left().is_some_and(|left| ahead >= left) {",
        "if false {",
    ),
    "pager-speculates-on-cursors": (
        PAGER,
        "if is_certain { self.paging.prefetch } else { self.paging.prefetch.min(1) }",
        "self.paging.prefetch + 1",
    ),
    "trail-skips-nothing": (
        TRAIL,
        "let (near, skip) = (VecDeque::new(), place.near());",
        "let (near, skip) = (VecDeque::new(), 0);",
    ),
    "trail-checkpoint-a-row-ahead": (
        TRAIL,
        "|&position| u64::from(position) + 1)",
        "|&position| u64::from(position) + 2)",
    ),
    "trail-checkpoint-of-the-page": (
        TRAIL,
        "place.offset = place.offset.saturating_add(received);",
        "place.offset += u64::from(self.shape.limit);",
    ),
    "trail-keeps-the-old-cursor": (TRAIL, "place.cursor.clone_from(&shape.cursor);", ""),
    "findings-totals-untold": (
        "src/export/findings.rs",
        "(Some(first), Some(last)) if first != last => {",
        "(Some(first), Some(last)) if false && first != last => {",
    ),
    # retries
    "retry-writes-that-broke": (
        RETRY,
        "(Failure::Ambiguous { .. }, true) => (Kind::UnconfirmedWrite, Unknown, None)",
        "(Failure::Ambiguous { .. }, true) => (Kind::UnconfirmedWrite, Unknown, Some(Pace::Normal))",
    ),
    "retry-says-rejected-of-a-503": (RETRY, "..200 | 408 | 500.. =>", "..200 | 408 | 500..503 | 504.. =>"),
    "retry-says-unknown-of-lost-bodies": (
        RETRY,
        "(Kind::UnconfirmedWrite, Applied, None)",
        "(Kind::UnconfirmedWrite, Unknown, None)",
    ),
    "retry-429-of-writes-untold": (RETRY, "|| (pace == Pace::Told && told.is_none())", ""),
    "retry-not-after-502": (
        RETRY,
        "408 | 500 | 502 | 504 | 520..=524 => Some(Pace::Normal)",
        "408 | 500 | 504 | 520..=524 => Some(Pace::Normal)",
    ),
    "retry-after-501": (RETRY, "408 | 500 | 502 | 504 |", "408 | 500 | 501 | 502 | 504 |"),
    "retry-unusable-answers": (
        RETRY,
        "(Failure::Unreadable { .. }, false) => (Kind::Response, Unknown, None)",
        "(Failure::Unreadable { .. }, false) => (Kind::Response, Unknown, Some(Pace::Normal))",
    ),
    "retry-once-more": (RETRY, "if number > limits.max_retries", "if number > limits.max_retries + 1"),
    "retry-once-less": (RETRY, "if number > limits.max_retries", "if number >= limits.max_retries"),
    "retry-too-early": (RETRY, "pause = pause.max(told.saturating_add(spread(told, unit())));", ""),
    "retry-without-spread": (
        RETRY,
        "pause.max(told.saturating_add(spread(told, unit())))",
        "pause.max(told)",
    ),
    "retry-whatever-is-asked": (RETRY, "|| told.is_some_and(|told| told > limits.max_retry_after)", ""),
    "retry-beyond-the-deadline": (RETRY, "if pause.saturating_add(LAST_CALL) > left {", "if false {"),
    "retry-backoff-does-not-grow": (
        RETRY,
        ".checked_shl(retry.saturating_sub(1))",
        ".checked_shl(retry.saturating_sub(retry))",
    ),
    "retry-fatal": (RETRY, "(!fatal).then_some(Pace::Normal)", "Some(Pace::Normal)"),
    "retry-after-past-is-now": (
        "src/http/retry_after.rs",
        "longest = longest.max(Some(wait))",
        "longest = Some(wait)",
    ),
    # throttle
    "throttle-forgets": (CALL, "self.shared.throttle.throttle(call.lane, status, told);", ""),
    "throttle-shorter-wins": (
        THROTTLE,
        "is_none_or(|known| known.until < until)",
        "is_none_or(|known| known.until > until)",
    ),
    "throttle-one-lane": (
        CALL,
        "self.shared.throttle.throttle(call.lane,",
        "self.shared.throttle.throttle(Lane::Jobs,",
    ),
    "throttle-passed-in-line": (ADMISSION, "if throttled().is_none() {", "if true {"),
    # budget
    "budget-one-more": (
        POLICY,
        "let ours = terms.per_hour.saturating_sub(terms.reserve).saturating_sub(counted);",
        "let ours = (terms.per_hour + 1).saturating_sub(terms.reserve).saturating_sub(counted);",
    ),
    "budget-no-reserve": (
        POLICY,
        "let ours = terms.per_hour.saturating_sub(terms.reserve).saturating_sub(counted);",
        "let ours = terms.per_hour.saturating_sub(counted);",
    ),
    "budget-hour-of-3600": (
        POLICY,
        "pub const HOUR: Millis = 3_601_000;",
        "pub const HOUR: Millis = 3_600_000;",
    ),
    "budget-counts-from-the-start": (
        POLICY,
        "self.answered.unwrap_or(self.at + MAX_UNANSWERED) + HOUR",
        "self.at + HOUR",
    ),
    "budget-forgets-refusals": (POLICY, "if outcome.refused {", "if false {"),
    "budget-believes-shorter": (
        POLICY,
        "map_or(until, |held| held.until.max(until))",
        "map_or(until, |_| until)",
    ),
    "budget-withdraws-what-left": (ATTEMPT, "ticket.sending();", ""),
    "budget-counts-what-never-left": (
        BUDGET,
        "let outcome = self.sent.then(RequestEnd::default);",
        "let outcome = Some(RequestEnd::default());",
    ),
    "budget-own-count-only-enters": (
        BUDGET,
        "Decision::Granted(_) => lock(&state.own).enter(state.clock.steady_now()),",
        "Decision::Granted(_) => NONE,",
    ),
    "budget-file-forgets": (LEDGER, "if before.entries.get(id) != Some(entry) {", "if false {"),
    "budget-future-counts-not": (POLICY, "entry.at = entry.at.min(now);", ""),
    # store
    "store-fetches-again": (EXPORTS, "match found.finished.or(found.unfinished)", "match found.unfinished"),
    "store-open-ranges-stay": (
        TABLE,
        'const STILL_FINAL: &str = "AND begun >= ?7 AND begun <= ?8";',
        'const STILL_FINAL: &str = "AND ?7 = ?7 AND begun <= ?8";',
    ),
    "store-whole-too-early": (TABLE, "(kind = 'totals' OR ?5)\"", "(kind = 'totals' OR 1 OR ?5)\""),
    "store-short-page-leads-on-by-limit": (
        PAGES,
        "let short = self.has_more && self.rows < u64::from(self.asked);",
        "let short = false;",
    ),
    "store-first-rows-twice": (STORED, "without(page, skip)", "without(page, skip * 0)"),
    "store-rows-of-another-page": (
        STORED,
        "page.filter(|page| offset - start < page.rows || !page.has_more)",
        "page",
    ),
    "store-pages-not-kept": (STORED, "if export.finished.is_none() && leads_on {", "if false && leads_on {"),
    # once
    "once-no-note": (
        CALL,
        "journal.begin(*deadline).await.map_err(|error| error.with_outcome(Some(Outcome::NotSent)))?;",
        "let _ = journal;",
    ),
    "once-frees-what-is-unknown": (
        CALL,
        "matches!(report.verdict.outcome, Some(Outcome::NotSent | Outcome::Rejected))",
        "report.verdict.outcome.is_some()",
    ),
    "once-keeps-what-was-refused": (
        CALL,
        "matches!(report.verdict.outcome, Some(Outcome::NotSent | Outcome::Rejected))",
        "report.verdict.outcome.is_none()",
    ),
    "once-no-lock": (
        NAMES,
        "CreationLock::take(beside(store.path(), &name))",
        'CreationLock::take(beside(store.path(), &format!("{name}{}", fastrand::u64(..))))',
    ),
    "once-looks-before-the-lock-only": (
        ONCE,
        "return match standing().await? {",
        "return match Standing::Free {",
    ),
    "once-any-prompt": (
        NAMES,
        "if known != digest(&transaction, &prompt)? {",
        "if false && known != digest(&transaction, &prompt)? {",
    ),
    "once-job-not-noted": (
        ONCE,
        "self.names.created(self.key.clone(), Arc::clone(&self.prompt), job, self.ended());",
        "let _ = job;",
    ),
    "once-does-not-wait-for-the-note": (
        ONCE,
        "let written = names.written().await;",
        "let written: Result<()> = Ok(());",
    ),
    "once-resolves-what-is-known": (NAMES, "AND name = ?3 AND job IS NULL", "AND name = ?3"),
    "once-one-name-for-all": (
        NAMES,
        "let words = [&owner.base_url, &whose, &key.project_id, &key.name]",
        "let words = [&owner.base_url, &whose, &key.project_id, &key.project_id]",
    ),
}


def cargo(*arguments: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """Runs cargo in the copy."""
    return subprocess.run(
        ["cargo", *arguments], cwd=COPY, env=ENVIRONMENT, capture_output=True, text=True, timeout=seconds
    )


def first_failure() -> str:
    """The seed that finds the bug, or what else happened."""
    try:
        ran = cargo(
            "test", *PROFILE, "--", "--ignored", "--exact", "simulate", "--nocapture", seconds=SECONDS
        )
    except subprocess.TimeoutExpired:
        return "found: it goes round without end"
    if ran.returncode == 0:
        return "NOT FOUND"
    seed = re.search(r"^found by seed (\d+): (.*)", ran.stdout, re.MULTILINE)
    return f"found by seed {seed[1]}: {seed[2][:90]}" if seed else f"broke: {ran.stderr[-300:]}"


def main() -> int:
    """Plants each bug, and prints what came of it."""
    missed = 0
    chosen = [name for name in MUTANTS if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]
    for name in chosen:
        file, line, instead = MUTANTS[name]
        path = COPY / file
        text = (ROOT / file).read_text()
        if text.count(line) != 1:
            print(f"{name}: {file} has the line {text.count(line)} times", flush=True)
            missed += 1
            continue
        path.write_text(text.replace(line, instead))
        begun = time.monotonic()
        try:
            built = cargo("test", *PROFILE, "--no-run")
            found = first_failure() if built.returncode == 0 else f"does not build: {built.stderr[-400:]}"
        finally:
            path.write_text(text)
        missed += not found.startswith("found")
        print(f"| {name} | {found} | {time.monotonic() - begun:.0f} s |", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} found")
    return missed > 0


if __name__ == "__main__":
    COPY = pathlib.Path(os.environ.get("COPY", ROOT / "target" / "mutants"))
    COPY.mkdir(parents=True, exist_ok=True)
    # Times of files stay, so that only what a bug changes is built again.
    for name in [
        "Cargo.toml",
        "Cargo.lock",
        "README.md",
        "build.rs",
        "python/docplatform/_native.pyi",
        "src",
        "tests/rust",
        "fuzz/answer.rs",
    ]:
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        copy = (
            shutil.copy2
            if (ROOT / name).is_file()
            else lambda a, b: shutil.copytree(a, b, dirs_exist_ok=True)
        )
        copy(ROOT / name, COPY / name)
    ENVIRONMENT = os.environ | {
        "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target")),
        "CARGO_PROFILE_LIGHT_INCREMENTAL": "true",
        "SEEDS": str(SEEDS),
        "MAX_FAILURES": "1",
        "QUICK": "1",
    }
    sys.exit(main())
