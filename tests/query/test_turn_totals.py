"""Views of turns, steps and sub-agents add up: to each other, to the summary, to the corpus's verdicts."""

from __future__ import annotations

from collections import Counter

import pytest

from corpus import load
from scanned_homes import HOMES, Scanned, name_of, scanned_home


@pytest.fixture(scope="module", params=[None, *HOMES], ids=name_of)
def scanned(request: pytest.FixtureRequest) -> Scanned:
    """The demo home, and every home of the corpus."""
    return scanned_home(request.param)


def _own(scanned: Scanned, table: str, *types: str) -> int:
    chosen = f"and type in {types!r}".replace(",)", ")") if types else ""
    (number,) = scanned.row(
        f"select count(*) from {table} where not is_inherited and not is_recovered {chosen}"
    )
    return int(number)


def test_steps_and_turns_count_what_happened(scanned: Scanned) -> None:
    started, ended, replies, retries, attempts = scanned.row(
        "select count(line), count(ended_at), sum(replies), sum(retries), sum(attempts) from steps"
    )
    assert started == _own(scanned, "events", "step/start")
    assert ended == _own(scanned, "events", "step/end")
    assert replies == scanned.summary["assistant_messages"]
    assert retries == _own(scanned, "events", "llm/retry") == scanned.row("select count(*) from retries")[0]
    assert attempts == scanned.row("select count(*) from attempts")[0]

    of_turns = scanned.row(
        "select sum(steps), sum(replies), sum(retries), sum(attempts), sum(starts), sum(ends) from turns"
    )
    assert of_turns[:4] == (started, replies, retries, attempts)
    assert of_turns[4:] == (_own(scanned, "events", "turn/start"), _own(scanned, "events", "turn/end"))
    approvals, compactions, human = scanned.row(
        "select sum(approvals), sum(compactions), sum(human_messages) from turns"
    )
    assert approvals == _own(scanned, "events", "approval/asked")
    assert compactions <= _own(scanned, "events", "compaction/start")
    assert human <= scanned.summary["human_messages"]


def test_times_of_steps_and_turns_agree(scanned: Scanned) -> None:
    sums = "select sum(model_ms), sum(tool_ms) from"
    assert scanned.row(f"{sums} steps") == scanned.row(f"{sums} turns")
    assert scanned.rows("from turns where other_ms < 0 or first_token_ms < 0") == []
    assert scanned.rows("from steps where model_ms + coalesce(tool_ms, 0) > duration_ms") == []


def test_tokens_are_the_same_over_turns_sessions_and_trees(scanned: Scanned) -> None:
    total = scanned.summary["tokens"]["total"]
    by_turn = (
        "select sum(total_tokens), sum(calls), sum(attempt_tokens), sum(compaction_tokens) from turn_cost"
    )
    tokens, calls, attempts, compactions = scanned.row(by_turn)
    assert (tokens or 0) == total
    kinds = scanned.summary["tokens_by_kind"]
    assert (attempts or 0) == kinds["attempt"]["total"]
    assert (compactions or 0) == kinds["compaction"]["total"]
    own, own_calls = scanned.row("select sum(own_tokens), sum(own_calls) from session_subtrees")
    assert (own or 0, own_calls) == (total, calls)
    tops = "from session_subtrees as t join subagent_tree as s using (source_id) where s.depth = 0"
    below = scanned.row(f"select coalesce(sum(subtree_tokens), 0), coalesce(sum(sessions), 0) {tops}")
    in_trees = "from session_subtrees semi join subagent_tree using (source_id)"
    assert below == scanned.row(f"select coalesce(sum(own_tokens), 0), count(*) {in_trees}")
    assert scanned.row("select sum(calls), coalesce(sum(total_tokens), 0) from served_models") == (
        calls,
        total,
    )
    assert scanned.row("select total_tokens from completed_turn_cost") == (tokens,)
    assert scanned.row("select count(*) from subagent_tree where origin = 'subagent'") == (
        scanned.summary["subagent_sessions"],
    )


def test_every_miss_is_a_call_with_a_cause(scanned: Scanned) -> None:
    by_cause = "select count(*), sum(missed_tokens), sum(uncached_tokens) from cache_misses"
    sums = "select coalesce(sum(calls), 0), sum(missed_tokens), sum(uncached_tokens) from cache_miss_causes"
    assert scanned.row(by_cause) == scanned.row(sums)
    strangers = "from cache_misses as m anti join billed_usage as u using (source_id, line, seq)"
    assert scanned.rows(strangers) == []
    wrong = "missed_tokens <= 0 or missed_tokens > uncached_tokens or cause is null or missed_cost < 0"
    assert scanned.rows(f"from cache_misses where {wrong}") == []
    repeated = "select source_id, line, seq from cache_misses group by all having count(*) > 1"
    assert scanned.rows(repeated) == []


def test_replies_with_usage_are_those_whose_context_grew(scanned: Scanned) -> None:
    assert scanned.row("select count(*), sum(prompt_tokens) from context_growth") == scanned.row(
        "select count(*), "
        "sum(input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)) "
        "from billed_usage where kind = 'message'"
    )


def test_the_verdicts_of_the_corpus(scanned: Scanned) -> None:
    """``ground_truth.json`` counts own events of each file by type, ends of turns by kind, and retries."""
    path = scanned.home / "ground_truth.json"
    if not path.exists():
        pytest.skip("this home comes without a ground truth")
    truth = load(path)
    types = Counter(truth["totals_own"]["events_by_type"])
    turns, steps = scanned.row("select sum(starts), sum(steps) from turns")
    assert (turns, steps) == (types["turn/start"], types["step/start"])
    endings = "select outcome, sum(turns)::bigint from turn_endings where outcome is not null group by 1"
    current = [one["own"] for one in truth["sessions"] if one.get("current", True)]
    ended = sum((Counter(one["turns_ended"]) for one in current), Counter[str]())
    assert scanned.counts(endings) == ended
    assert scanned.row("select count(*) from retries") == (truth["totals_own"]["llm_retries"],)
    started = "select count(*), count(total_tokens) from compactions where kind = 'compaction'"
    assert scanned.row(started) == (types["compaction/start"], types["compaction/summary"])
    assert scanned.row("select count(asked_at), count(decided_at) from approvals") == (
        types["approval/asked"],
        types["approval/decided"],
    )
    assert scanned.row("select count(started_at), count(outcome) from jobs") == (
        types["job/registered"],
        types["job/settled"],
    )
