"""Plants bugs in a copy of the core, all at once, and looks whether the simulation finds each: `make mutants`.

A bug is a file, a piece of it and what stands there instead: a statement, an expression, a condition or an arm of a match. The
environment of a run chooses the one that counts, so that all are built in one go.
A bug for which the simulation has no check is listed with the reason. What came of those that ran is written to mutants.md.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).parents[3]
SEEDS = int(os.environ.get("SEEDS", "10000"))
WORKERS = int(os.environ.get("WORKERS", str(os.cpu_count() or 1)))
# A bug may make the client go round without end.
SECONDS = int(os.environ.get("LIMIT", "300"))
FLAGS = os.environ.get("SIMULATION_FLAGS", "").split()
PROFILE = ["--locked", "--no-default-features", "--quiet", "--profile", "simulation", "--test", "simulation"]

PAGER, POSITION = "src/export/pager.rs", "src/export/position.rs"
STORED, SOURCE, DEDUPE = "src/export/stored.rs", "src/export/source.rs", "src/export/dedupe.rs"
RETRY_POLICY, RETRY, CALL = "src/client/policy.rs", "src/client/retry.rs", "src/client/call.rs"
THROTTLE = "src/client/throttle.rs"
ADMISSION, ATTEMPT = "src/client/admission.rs", "src/client/attempt.rs"
POLICY, BUDGET, LEDGER = "src/budget/policy.rs", "src/budget/mod.rs", "src/budget/ledger.rs"
STORE = "src/store/mod.rs"
PAGES, EXPORTS, FLIGHTS = "src/store/pages.rs", "src/store/exports.rs", "src/store/flights.rs"
ACCOUNT, OWNER, BOOKS = "src/store/account.rs", "src/config/account.rs", "src/client/mod.rs"
PLAN, JOB = "src/slices/plan.rs", "src/job/mod.rs"
FINDINGS, RETRY_AFTER = "src/export/findings.rs", "src/http/retry_after.rs"
FILE = "src/store/file.rs"
ONCE, NAMES = "src/job/once.rs", "src/store/once.rs"

MUTANTS: dict[str, tuple[str, str, str]] = {
    # paging
    "pager-steps-by-limit": (
        POSITION,
        "if page.has_more && is_short { page.received } else { page.limit }",
        "page.limit",
    ),
    "pager-empty-page-goes-on": (PAGER, "if received == 0 {", "if false {"),
    "pager-same-page-goes-on": (PAGER, "if self.seen.page_again(&identities) {", "if false {"),
    "pager-cursor-comes-again": (
        PAGER,
        "if !self.cursors.insert(xxh3_64(cursor.as_bytes())) {",
        "if false {",
    ),
    "pager-keeps-repeats": (DEDUPE, "repeats.iter().all(|&repeat| repeat == Repeat::New)", "true"),
    "pager-tells-no-repeats": (
        PAGER,
        "fresh.extend(self.findings.repeats(identical, differing, expected));",
        "",
    ),
    "pager-row-too-many": (PAGER, "indices.truncate(most);", ""),
    "pager-forgets-what-it-handed": (PAGER, "self.handed += count as u64;", ""),
    "pager-takes-what-was-asked-elsewhere": (
        PAGER,
        "if self.is_over() || self.ahead.front().is_some_and(|ahead| ahead.at != self.at()) {",
        "if self.is_over() {",
    ),
    "pager-asks-beyond-the-rows": (
        PAGER,
        "if self.is_over() || self.rows_left().is_some_and(|left| ahead >= left) {",
        "if false {",
    ),
    "pager-speculates-too-far": (
        PAGER,
        "if is_certain { self.paging.prefetch } else { self.paging.prefetch.min(1) }",
        "self.paging.prefetch + 2",
    ),
    "position-skips-nothing": (
        POSITION,
        "place.remember(rows, place.near + rows.len());",
        "place.remember(rows, place.near);",
    ),
    "position-forgets-the-rest-of-a-page": (
        POSITION,
        "self.skip.saturating_sub(page.received - page.overlap)",
        "0",
    ),
    "position-knows-no-overlap": (PAGER, "self.position.overlap(&identities)", "0"),
    "position-checkpoint-a-row-ahead": (POSITION, "u64::from(position) + 1", "u64::from(position) + 2"),
    "position-checkpoint-a-row-behind": (
        POSITION,
        "place.offset = place.offset.saturating_add(received);",
        "",
    ),
    "position-keeps-the-old-cursor": (POSITION, "place.cursor.clone_from(&page.cursor);", ""),
    "position-last-page-by-position": (
        POSITION,
        "self.place.irregular || !self.by_offset || is_short",
        "self.place.irregular || !self.by_offset",
    ),
    "position-next-day-keeps-its-place": (POSITION, "(place.offset, place.cursor) = (0, None);", ""),
    "position-one-day-for-all": (
        POSITION,
        "place.done = place.slice + 1 >= self.slices.len();",
        "place.done = true;",
    ),
    "position-rows-of-days-look-alike": (
        POSITION,
        "if self.place.slice > 0 {",
        "if false {",
    ),
    "position-forgets-what-a-checkpoint-knows": (
        POSITION,
        "self.place.offset + self.skip as u64",
        "self.place.offset",
    ),
    "position-regular-again-after-a-stop": (
        POSITION,
        "place.irregular |= near > 0 && !by_count;",
        "place.irregular = near > 0 && !by_count;",
    ),
    "position-irregular-unnoticed": (
        POSITION,
        "self.by_offset && page.has_more && page.received != page.limit",
        "false",
    ),
    "dedupe-differing-is-identical": (DEDUPE, "None => Repeat::Differing", "None => Repeat::Identical"),
    "findings-totals-untold": (FINDINGS, "fresh.extend(self.tell(Finding::Totals { first, last }));", ""),
    "findings-cut-off-untold": (
        PAGER,
        "fresh.push(self.findings.cut_off(received, days, is_small));",
        "",
    ),
    # retries
    "retry-writes-that-broke": (
        RETRY_POLICY,
        "(Failure::Ambiguous { .. }, true) => (Kind::UnconfirmedWrite, Unknown, None)",
        "(Failure::Ambiguous { .. }, true) => (Kind::UnconfirmedWrite, Unknown, Some(Pace::Normal))",
    ),
    "retry-says-applied-of-lost-bodies": (
        RETRY_POLICY,
        "Failure::Unreadable { .. }, true) => {\n            (Kind::UnconfirmedWrite, Unknown, None)\n        }",
        "Failure::Unreadable { .. }, true) => {\n            (Kind::UnconfirmedWrite, Applied, None)\n        }",
    ),
    "retry-says-rejected-of-5xx": (
        RETRY_POLICY,
        "..200 | 408 | 500.. => (Kind::UnconfirmedWrite, Unknown, None)",
        "..200 | 408 | 500.. => (Kind::Status, Rejected, None)",
    ),
    "retry-429-of-writes-untold": (
        RETRY_POLICY,
        "(pace == Pace::RetryAfter && refusal.retry_after.is_none())",
        "false",
    ),
    "retry-not-after-502": (
        RETRY_POLICY,
        "408 | 500 | 502 | 504 | 520..=524 => Some(Pace::Normal)",
        "408 | 500 | 502 | 504 | 520..=524 => (head.status != 502).then_some(Pace::Normal)",
    ),
    "retry-after-any-status": (
        RETRY_POLICY,
        "(Kind::Status, Unknown, retry)",
        "(Kind::Status, Unknown, retry.or(Some(Pace::Normal)))",
    ),
    "retry-unusable-answers": (
        RETRY_POLICY,
        "(Failure::Unreadable { .. }, false) => (Kind::Response, Unknown, None)",
        "(Failure::Unreadable { .. }, false) => (Kind::Response, Unknown, Some(Pace::Normal))",
    ),
    "retry-once-more": (RETRY_POLICY, "number > limits.max_retries", "number > limits.max_retries + 1"),
    "retry-once-less": (
        RETRY,
        "self.settings.limits",
        "crate::config::Limits { max_retries: self.settings.limits.max_retries.saturating_sub(1), ..self.settings.limits }",
    ),
    "retry-too-early": (
        RETRY_POLICY,
        "pause = pause.max(retry_after.saturating_add(spread(retry_after, unit())));",
        "",
    ),
    "retry-without-spread": (
        RETRY_POLICY,
        "retry_after.saturating_add(spread(retry_after, unit()))",
        "retry_after",
    ),
    "retry-whatever-is-asked": (
        RETRY_POLICY,
        "asked.is_some_and(|retry_after| retry_after > limits.max_retry_after)",
        "false",
    ),
    "retry-beyond-the-deadline": (
        RETRY_POLICY,
        "if pause.saturating_add(MIN_TIME_LEFT) > time_left {",
        "if false {",
    ),
    "retry-backoff-does-not-grow": (RETRY_POLICY, "retry.saturating_sub(1)", "0"),
    "retry-fatal": (RETRY_POLICY, "(!fatal).then_some(Pace::Normal)", "Some(Pace::Normal)"),
    "retry-after-the-last-value-counts": (
        RETRY_AFTER,
        "longest = longest.max(Some(wait))",
        "longest = Some(wait)",
    ),
    "retry-after-a-past-date-is-long": (
        RETRY_AFTER,
        "date.duration_since(now).unwrap_or(Duration::ZERO)",
        "date.duration_since(now).unwrap_or(Duration::from_secs(50))",
    ),
    # throttle
    "throttle-forgets": (
        ATTEMPT,
        "self.shared.throttle.throttle(call.lane, status, after, in_ledger);",
        "",
    ),
    "throttle-shorter-wins": (
        THROTTLE,
        "known.is_none_or(|known| known.until < until)",
        "known.is_none_or(|known| known.until > until)",
    ),
    "throttle-half-as-long": (THROTTLE, "asked.min(MAX_THROTTLE)", "asked.min(MAX_THROTTLE) / 2"),
    "throttle-passed-in-line": (ADMISSION, "if !is_late && throttled().is_none() {", "if !is_late {"),
    # budget
    "budget-one-more": (
        POLICY,
        "terms.per_hour.saturating_sub(terms.reserve).saturating_sub(counted)",
        "(terms.per_hour + 1 - terms.reserve).saturating_sub(counted)",
    ),
    "budget-half-an-hour": (
        POLICY,
        "self.answered.unwrap_or(self.at + self.patience) + HOUR",
        "self.answered.unwrap_or(self.at + self.patience) + HOUR / 2",
    ),
    "budget-hour-of-3600": (
        POLICY,
        "self.answered.unwrap_or(self.at) + HOUR",
        "self.answered.unwrap_or(self.at) + HOUR - 1_000",
    ),
    "budget-counts-from-the-start": (
        POLICY,
        "entry.answered = Some(now.max(entry.at));",
        "entry.answered = Some(entry.at);",
    ),
    "budget-forgets-refusals": (POLICY, "if outcome.refused {", "if false {"),
    "budget-believes-shorter": (POLICY, "held.until.max(until)", "until"),
    "budget-withdraws-what-left": (ATTEMPT, "ticket.sent();", ""),
    "budget-counts-what-never-left": (
        BUDGET,
        "self.outcome.take()",
        "self.outcome.take().or_else(|| Some(RequestEnd::default()))",
    ),
    "budget-file-forgets": (LEDGER, "if before.entries.get(id) != Some(entry) {", "if false {"),
    "budget-file-uncommitted": (STORE, "transaction.commit()?;", "drop(transaction.commit());"),
    "budget-refusal-ends-with-the-file": (BUDGET, "account.still_refused(now, millis(left));", ""),
    "budget-of-jobs-unused": (
        CALL,
        "Some(project) if creates => Some(Limit::Jobs(project))",
        "Some(project) if creates => Some(Limit::Jobs(project)).filter(|_| false)",
    ),
    "budget-file-loads-no-one-elses": (
        LEDGER,
        "account.entries.insert(row.get(0)?, entry);",
        "let _ = entry;",
    ),
    "budget-of-jobs-of-all-projects": (
        OWNER,
        'format!("jobs:{}/{}", project.as_str(), of.label(salt))',
        'format!("jobs:any/{}", of.label(salt))',
    ),
    "budget-of-jobs-and-reads": (BOOKS, "project.map(|project| project.as_str().to_owned())", "None"),
    "budget-of-all-addresses": (
        ACCOUNT,
        '"SELECT id FROM account WHERE base_url = ?1 AND organization = ?2"',
        '"SELECT id FROM account WHERE ?1 = ?1 AND organization = ?2"',
    ),
    # store
    "store-fetches-again": (EXPORTS, "found.finished.or(found.unfinished)", "found.unfinished"),
    "store-whole-too-early": (EXPORTS, "walk.whole = !place.has_more;", "walk.whole = true;"),
    "store-short-page-leads-on-by-limit": (
        PAGES,
        "self.has_more && self.rows < u64::from(self.asked)",
        "false",
    ),
    "store-first-rows-twice": (STORED, "if skip > 0 {", "if false {"),
    "store-rows-of-another-page": (
        STORED,
        "offset - page.offset < page.rows || !page.has_more",
        "true",
    ),
    "store-pages-not-kept": (
        STORED,
        "export.filter(|_| leads_on)",
        "export.filter(|_| false)",
    ),
    "store-takes-the-page-before": (
        STORED,
        "offset - offset.saturating_sub(led_to) % u64::from(self.page_size)",
        "offset",
    ),
    "store-goes-on-within-a-page": (STORED, "before.map_or(0, |page| page.next())", "0"),
    "store-exports-begin-at-one": (FILE, "transaction.execute(START_NUMBERS, [])?;", ""),
    "store-final-too-early": (
        EXPORTS,
        "find(STILL_FINAL, params![range.settles, now, whole_page])?",
        "find(STILL_FINAL, params![0, now, whole_page])?",
    ),
    "store-settles-a-day-early": (
        EXPORTS,
        "end.settles(settle_days)",
        "end.settles(settle_days.saturating_sub(1))",
    ),
    "store-refresh-fetches-nothing": (
        EXPORTS,
        "true => StoredRange::default()",
        "true => stored_range(transaction, account, &range, content, page_size, now)?",
    ),
    # The mended defect that ten trends at once showed.
    "store-reads-the-clock-before-its-wait": (
        EXPORTS,
        "client.clock.now().max(date.unwrap_or(asked))",
        "page.seen.max(date.unwrap_or(asked))",
    ),
    "store-export-begins-with-its-call": (
        EXPORTS,
        '"UPDATE export SET begun = min(?2, iif(EXISTS (SELECT 1 FROM page WHERE export = ?1), begun, ?2)) WHERE id = ?1"',
        '"UPDATE export SET begun = min(?2, begun) WHERE id = ?1"',
    ),
    "store-resumes-what-is-old": (EXPORTS, "age > MAX_RESUME_AGE", "false"),
    "store-of-all-projects": (
        EXPORTS,
        "listing.project_id.clone()",
        'Some("any".to_owned())',
    ),
    "store-totals-of-any-time": (
        SOURCE,
        "stock.finished.and_then(|export| export.totals)",
        "stock.latest.and_then(|export| export.totals)",
    ),
    "sync-takes-what-may-change": (
        PLAN,
        "(pages.finished.is_some(), begun(&pages))",
        "(pages.latest.is_some(), begun(&pages))",
    ),
    # calls at once
    "flight-without-lock": (
        FLIGHTS,
        "FileLock::take(beside(client.store.path(), &name))?",
        'FileLock::take(beside(client.store.path(), &format!("{name}{}", fastrand::u64(..))))?',
    ),
    "flight-does-not-look-again": (
        FLIGHTS,
        "stored.map_or(PageClaim::Ours(lock), PageClaim::Stored)",
        "PageClaim::Ours(lock)",
    ),
    "flight-lock-ends-with-the-answer": (STORED, "lock.take()", "{ drop(lock.take()); lock.take() }"),
    "flight-held-for-the-budget": (ADMISSION, "flight.leave();", ""),
    # jobs
    "job-archived-goes-on": (
        JOB,
        'matches!(self.status.as_str(), "completed" | "archived" | "failed")',
        'matches!(self.status.as_str(), "completed" | "failed")',
    ),
    # once
    "once-frees-what-is-unknown": (
        RETRY,
        "matches!(report.verdict.outcome, Some(Outcome::NotSent | Outcome::Rejected))",
        "report.verdict.outcome.is_some()",
    ),
    "once-keeps-what-was-refused": (ONCE, "self.names.free(self.key.clone(), self.ended());", ""),
    "once-no-lock": (
        NAMES,
        "beside(client.store.path(), &name)",
        'beside(client.store.path(), &format!("{name}{}", fastrand::u64(..)))',
    ),
    "once-any-prompt": (NAMES, "known != digest", "false"),
    "once-job-not-noted": (
        ONCE,
        "self.names.done(self.key.clone(), self.write.clone(), job, self.ended());",
        "let _ = job;",
    ),
    "once-does-not-wait-for-the-note": (
        ONCE,
        "store.within(client.deadline(), names.written()).await",
        "Ok(())",
    ),
    "once-one-name-for-all": (ONCE, "name: self.0 }", 'name: "any".to_owned() }'),
    "once-note-without-disk": (ONCE, "std::mem::forget(undo);", "drop(undo);"),
}


# Bugs that the simulation has no check for, and why.
UNSEEN: dict[str, str] = {
    "store-goes-on-within-a-page": "a request more where pages are capped, which is no promise; a test of the core counts it",
    "flight-held-for-the-budget": "the same requests, and other calls wait longer; a test of the core counts it",
}

HEAD = """# What the simulation finds

Written by `make mutants`, which plants each of these bugs in the core and runs up to 10,000 seeds against it, and those that
found bugs. The bugs themselves are in [mutants.py](mutants.py).
"""
TABLE = pathlib.Path(__file__).with_suffix(".md")


def planted(name: str, line: str, instead: str) -> str:
    """Both pieces; the environment chooses one."""
    choice = f'crate::planted("{name}")'
    arm, condition = line.partition(" => "), re.fullmatch(r"if (.*) \{", line)
    if arm[1] and instead.startswith(arm[0] + arm[1]):
        return f"{arm[0]} => if {choice} {{ {instead[len(arm[0]) + 4 :]} }} else {{ {arm[2]} }}"
    if condition:
        return f"if (if {choice} {{ {instead[3:-2]} }} else {{ {condition[1]} }}) {{"
    field = re.fullmatch(r"(match |\w+: )(.*?)( \}|,|)", line)
    if field:
        begin, end = field[1], field[3]
        other = instead[len(begin) : len(instead) - len(end)]
        return f"{begin}(if {choice} {{ {other} }} else {{ {field[2]} }}){end}"
    if line.endswith(";"):
        return f"if {choice} {{ {instead} }} else {{ {line} }}"
    return f"(if {choice} {{ {instead} }} else {{ {line} }})"


PLANTED = """
#[allow(missing_docs, dead_code)]
pub fn planted(name: &str) -> bool {
    static NAME: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    NAME.get_or_init(|| std::env::var("PLANTED").ok()).as_deref() == Some(name)
}
"""


def build() -> str:
    """The simulation of a copy with all bugs in it. Times of files stay, so that only what is new is built again."""
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
    # Long lines, so that a piece is on one line.
    form = ["--edition", "2024", "--config", "max_width=110,use_small_heuristics=Max"]
    subprocess.run(["rustfmt", *form, str(COPY / "src/lib.rs")], check=True)
    for name, (file, line, instead) in MUTANTS.items():
        text = (COPY / file).read_text()
        if text.count(line) != 1:
            sys.exit(f"{name}: {file} has the piece {text.count(line)} times: {line}")
        (COPY / file).write_text(text.replace(line, planted(name, line, instead)))
    library = COPY / "src/lib.rs"
    library.write_text("#![allow(unused_parens)]\n" + library.read_text() + PLANTED)
    command = ["cargo", "rustc", *PROFILE, "--message-format=json-render-diagnostics", "--", *FLAGS]
    built = subprocess.run(command, cwd=COPY, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    executable: str = next(message["executable"] for message in messages if message.get("executable"))
    return executable


def first_failure(program: str, bug: str) -> str:
    """The seed that finds the bug, or what else happened."""
    command = [program, "--ignored", "--exact", "simulate", "--nocapture"]
    environment = ENVIRONMENT | {"PLANTED": bug}
    try:
        ran = subprocess.run(
            command, cwd=COPY, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        goes_round = b"took" in (error.stdout or b"")
        return "found: it goes round without end" if goes_round else f"NOT FOUND in {SECONDS} s"
    if ran.returncode == 0:
        return f"NOT FOUND in {SEEDS} seeds"
    seed = re.search(r"^found by seed (\d+): (.*)", ran.stdout, re.MULTILINE)
    return f"found by seed {seed[1]}: {seed[2][:90]}" if seed else f"broke: {ran.stderr[-300:]}"


def main() -> int:
    """Looks for each bug, and writes down what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="only bugs with this in their names")
    parts = parser.parse_args().parts
    begun = time.monotonic()
    program = build()
    chosen = [name for name in MUTANTS if not parts or any(part in name for part in parts)]

    def look(name: str) -> tuple[str, str]:
        argument = UNSEEN.get(name)
        what = f"not for the simulation: {argument}" if argument else first_failure(program, name)
        print(f"{name}: {what}", flush=True)
        return name, what

    with ThreadPoolExecutor(WORKERS) as workers:
        found = dict(workers.map(look, chosen))
    left = [name for name, what in found.items() if not what.startswith(("found", "not for the simulation"))]
    print(
        f"{len(found) - len(left)} of {len(found)} settled in {time.monotonic() - begun:.0f} s; left: {left}"
    )
    known = dict(re.findall(r"^\| `(.+?)` \| (.*) \|$", TABLE.read_text(), re.MULTILINE)) | found
    rows = "".join(f"| `{name}` | {known[name]} |\n" for name in MUTANTS if name in known)
    TABLE.write_text(f"{HEAD}\n| bug | what came of it |\n|---|---|\n{rows}")
    return len(left) > 0


if __name__ == "__main__":
    COPY = pathlib.Path(os.environ.get("COPY", ROOT / "target" / "mutants"))
    ENVIRONMENT = os.environ | {
        # Its own: a program with bugs in it must not be taken for the one of `make simulate`.
        "CARGO_TARGET_DIR": str(COPY / "target"),
        "CARGO_PROFILE_SIMULATION_INCREMENTAL": "true",
        "RUST_BACKTRACE": "0",
        "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
        "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
        "SEEDS": str(SEEDS),
        "MAX_FAILURES": "1",
    }
    sys.exit(main())
