"""`kontor dora incident`: steps are recorded, deadlines follow, drafts tell what was recorded and nobody's data."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from operating import BANK, ago
from prometheus_client.parser import text_string_to_metric_families

from kontor.domain.audit import SYSTEM_CHAIN, AuditResult
from kontor.services.security import auditing
from kontor.wire.dora.incident_reports import show_time

TODAY = datetime.now(UTC).date()
NAME, IBAN = "Erika Mustermann", "DE02120300000000202051"
FIELDS = {
    "initial": ["1(a)", "1(b)", "1(c)", "1(d)", "1(e)", "1(f)", "1(g)", *(f"2({letter})" for letter in "abcdefghij")],
    "intermediate": [f"3({letter})" for letter in "abcdefghijkl"],
    "final": [f"4({letter})" for letter in "abcdef"],
}


@pytest.fixture
def incident(operator, kontor):
    """A command of `kontor dora incident`; its JSON, or its refusal."""
    operator.owner.execute("delete from incidents")

    async def run(*arguments):
        code, out, err = await kontor(
            "dora", "incident", *arguments, *(["--json"] if "--json" not in arguments else [])
        )
        return json.loads(out) if code == 0 else err

    yield run
    operator.owner.execute("delete from incidents")


@pytest.fixture
async def opened(incident):
    """Somebody became aware of it ten hours ago."""
    return (await incident("open", "Banks do not answer", "--aware", ago(hours=10).isoformat()))["reference"]


def read_due(found):
    return {deadline["report"]: deadline["dueAt"] for deadline in found["deadlines"]}


async def test_an_incident_goes_from_awareness_to_its_end(incident, operator):
    (before,) = operator.owner.execute("select count(*) from audit_entries where chain = %s", [SYSTEM_CHAIN]).fetchone()
    aware, classified, told = ago(days=40), ago(days=40) + timedelta(hours=3), ago(days=40) + timedelta(hours=5)
    found = await incident("open", "Banks do not answer", "--aware", aware.isoformat())
    reference = found["reference"]
    assert (found["major"], read_due(found)["initial"]) == (None, show_time(aware + timedelta(hours=24)))
    found = await incident(
        "classify", reference, "major", "--criterion", "clients", "--criterion", "duration",
        "--at", classified.isoformat(),
    )  # fmt: skip
    assert read_due(found) == {
        "initial": show_time(classified + timedelta(hours=4)), "intermediate": None, "final": None,
    }  # fmt: skip
    found = await incident("submitted", reference, "initial", "--at", told.isoformat())
    assert read_due(found)["intermediate"] == show_time(told + timedelta(hours=72))
    await incident("submitted", reference, "intermediate", "--at", (told + timedelta(hours=72)).isoformat())
    found = await incident("recovered", reference, "--at", (told + timedelta(hours=80)).isoformat())
    former = read_due(found)["final"]
    found = await incident("submitted", reference, "intermediate", "--at", (told + timedelta(hours=81)).isoformat())
    assert read_due(found)["final"] > former  # an updated intermediate report: article 5(1)(c)
    assert "has not been submitted" in await incident("close", reference)
    await incident("submitted", reference, "final")
    assert (await incident("close", reference))["closedAt"]
    assert await incident("list") == []
    assert [incident_row["reference"] for incident_row in await incident("list", "--closed")] == [reference]
    steps = operator.owner.execute(
        "select action, object from audit_entries where chain = %s and serial > %s order by serial",
        [SYSTEM_CHAIN, before],
    ).fetchall()
    assert {named for _, named in steps} == {f"incident {reference}"}
    assert [action for action, _ in steps] == [
        "incident.open", "incident.classify-major", "incident.submit-initial", "incident.submit-intermediate",
        "incident.recover", "incident.submit-intermediate", "incident.submit-final", "incident.close",
    ]  # fmt: skip


async def test_a_missed_deadline_is_told(incident, kontor):
    reference = (await incident("open", "Old", "--aware", ago(days=3).isoformat()))["reference"]
    found = await incident("classify", reference, "major", "--criterion", "clients", "--at", ago(days=2).isoformat())
    assert found["deadlines"][0]["missed"] is True
    assert "OVERDUE for" in (await kontor("dora", "incident", "list"))[1]
    assert "OVERDUE for" in (await kontor("dora", "incident", "show", reference))[1]


async def read_deadline_metric(operator):
    answer = await operator.http.get("/metrics")
    return {
        sample.labels["report"]: sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.name == "kontor_incident_deadline_seconds"
    }


async def test_a_metric_counts_down_to_the_earliest_report_of_open_incidents(incident, operator):
    assert await read_deadline_metric(operator) == {}
    later = (await incident("open", "Later", "--aware", ago(hours=1).isoformat()))["reference"]
    sooner = (await incident("open", "Sooner", "--aware", ago(hours=20).isoformat()))["reference"]
    assert await read_deadline_metric(operator) == {"initial": pytest.approx(4 * 3600, abs=60)}
    await incident("classify", sooner, "not-major")
    assert await read_deadline_metric(operator) == {"initial": pytest.approx(23 * 3600, abs=60)}
    await incident("classify", later, "major", "--criterion", "clients", "--at", ago(minutes=50).isoformat())
    await incident("submitted", later, "initial")
    assert await read_deadline_metric(operator) == {"intermediate": pytest.approx(72 * 3600, abs=60)}


async def test_what_is_found_not_to_be_major_any_more_has_no_deadlines_and_says_so(incident, opened):
    await incident("classify", opened, "major", "--criterion", "clients")
    found = await incident("classify", opened, "not-major")
    assert (found["major"], found["deadlines"]) == (False, [])
    draft = await incident("draft", opened, "initial")
    assert find(draft, "2(i)").startswith("reclassified as non-major 20")
    assert (await incident("close", opened))["closedAt"]


async def test_what_becomes_major_again_is_reported_anew_from_its_new_classification(incident, operator, kontor):
    aware = ago(days=40)
    reference = (await incident("open", "Banks do not answer", "--aware", aware.isoformat()))["reference"]

    def at(hours):
        return ["--at", (aware + timedelta(hours=hours)).isoformat()]

    await incident("classify", reference, "major", "--criterion", "clients", *at(1))
    for report, hours in (("initial", 2), ("intermediate", 70)):
        await incident("submitted", reference, report, *at(hours))
    await incident("classify", reference, "not-major", *at(80))
    refused = await incident("classify", reference, "major", "--criterion", "clients", *at(79))
    assert "--at: must not be before the classification as not major" in refused
    found = await incident("classify", reference, "major", "--criterion", "duration", *at(100))
    assert read_due(found) == {
        "initial": show_time(aware + timedelta(hours=104)), "intermediate": None, "final": None,
    }  # fmt: skip
    assert [deadline["submittedAt"] for deadline in found["deadlines"]] == [None, None, None]
    assert "major again since" in (await kontor("dora", "incident", "show", reference))[1]
    assert find(await incident("draft", reference, "initial"), "2(i)").startswith("reclassified as major 20")
    assert "The initial report of" in await incident("submitted", reference, "intermediate", *at(101))
    assert "before the classification as major" in await incident("submitted", reference, "initial", *at(99))
    found = await incident("submitted", reference, "initial", *at(103))
    assert read_due(found)["intermediate"] == show_time(aware + timedelta(hours=175))
    assert "was submitted before" in await incident("submitted", reference, "initial", *at(104))
    again = await incident("classify", reference, "major", "--criterion", "clients", *at(105))
    assert read_due(again) == read_due(found)  # classifying alike does not begin anything anew
    await incident("submitted", reference, "intermediate", *at(170))
    assert "has not been submitted" in await incident("close", reference)
    await incident("submitted", reference, "final", *at(180))
    assert (await incident("close", reference))["closedAt"]
    kept = "select report, count(*) from incident_reports group by report order by report"
    assert operator.owner.execute(kept).fetchall() == [("final", 1), ("initial", 2), ("intermediate", 2)]


async def test_classifying_again_does_not_stop_the_clock(incident, opened):
    first = await incident("classify", opened, "major", "--criterion", "clients", "--at", ago(hours=6).isoformat())
    again = await incident("classify", opened, "major", "--criterion", "duration")
    assert again["classifiedAt"] == first["classifiedAt"]
    assert again["criteria"] == ["duration"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["open", " "], "title: must have 1 to 200 characters, in one line."),
        (["open", "x", "--aware", "2999-01-01T00:00"], "--aware: must not be in the future."),
        (["open", "x", "--aware", "yesterday"], "--aware: must be a time such as 2026-11-16T08:30."),
        (["open", "x", "--aware", "2026-01-01T00:00", "--occurred", "2026-01-02T00:00"], "must not be after --aware"),
        (["classify", "REF", "major"], "--criterion: name at least one criterion of a major incident."),
        (["classify", "REF", "major", "--criterion", "clients", "--at", "2020-01-01"], "not be before becoming aware"),
        (["submitted", "REF", "initial"], "has not been classified as major."),
        (["close", "REF"], "has not been classified."),
        (["show", "INC-999999"], "There is no incident INC-999999."),
        (["show", "7"], "reference: must be such as INC-7."),
    ],
)
async def test_mistakes_are_told_in_one_sentence(incident, opened, arguments, reason):
    told = await incident(*[argument.replace("REF", opened) for argument in arguments])
    assert told.startswith("Refused: ")
    assert reason in told
    assert told.count("\n") == 1


async def test_reports_are_submitted_in_their_order(incident, opened):
    await incident("classify", opened, "major", "--criterion", "clients")
    assert "The initial report of" in await incident("submitted", opened, "intermediate")
    await incident("submitted", opened, "initial")
    assert "The intermediate report of" in await incident("submitted", opened, "final")
    told = await incident("submitted", opened, "intermediate", "--at", ago(hours=9).isoformat())
    assert "must not be before the initial report" in told


async def test_only_the_intermediate_report_is_noted_again_and_the_deadline_runs_from_the_first_initial(
    incident, opened, operator
):
    await incident("classify", opened, "major", "--criterion", "clients", "--at", ago(hours=9).isoformat())
    first = await incident("submitted", opened, "initial", "--at", ago(hours=8).isoformat())
    told = await incident("submitted", opened, "initial")
    assert told == (
        f"Refused: The initial report of {opened} was submitted before: only the intermediate report may be repeated.\n"
    )
    assert read_due(await incident("show", opened)) == read_due(first)
    operator.owner.execute(  # noted twice when that was possible
        "insert into incident_reports select number, 'initial', now() from incidents where number = %s",
        [int(opened.removeprefix("INC-"))],
    )
    assert read_due(await incident("show", opened)) == read_due(first)
    for report in ("intermediate", "intermediate", "final"):
        assert "deadlines" in await incident("submitted", opened, report)
    assert f"The final report of {opened} was submitted before" in await incident("submitted", opened, "final")


def find(draft, article):
    (value,) = [field["value"] for field in draft["fields"] if field["article"] == article]
    return value


@pytest.fixture
def outage(operator):
    """A bank that fails for one customer of two, and traces of persons all around it."""
    good, bad = operator.add_access(), operator.add_access("south")
    operator.add_fetch(good, "DONE", finished_at=ago(hours=2))
    for hours in (9, 8):
        operator.add_fetch(bad, "FAILED", failure="UNREACHABLE", finished_at=ago(hours=hours))
    operator.add_fetch(bad, "FAILED", failure="UNREACHABLE", finished_at=ago(days=5))  # before
    for hours, is_success in ((9, False), (8, False), (2, True)):
        operator.owner.execute(
            "insert into provider_outcomes (provider_id, at, is_success, seconds) values (%s, %s, %s, 1)",
            [BANK, ago(hours=hours), is_success],
        )
    operator.owner.execute("update users set username = %s where id = %s", [f"row {NAME} {IBAN}", bad[0]])
    return bad


@pytest.mark.parametrize("report", ["initial", "intermediate", "final"])
async def test_a_draft_has_the_contents_of_its_articles_and_those_before(incident, opened, report):
    draft = await incident("draft", opened, report)
    reports = list(FIELDS)[: list(FIELDS).index(report) + 1]
    assert [field["article"] for field in draft["fields"]] == [name for kind in reports for name in FIELDS[kind]]
    assert all(field["value"] for field in draft["fields"])
    assert (draft["draft"], draft["report"]) == (True, report)


async def test_a_draft_tells_what_the_installation_has_recorded(incident, opened, outage):
    await incident("classify", opened, "major", "--criterion", "clients")
    draft = await incident("draft", opened, "final")
    figures = draft["figures"]
    assert (figures["fetches"], figures["fetchesFailed"]) == (3, 2)
    assert (figures["customers"], figures["customersWithFailedFetches"]) == (2, 1)
    assert figures["failures"] == {"UNREACHABLE": 2}
    (bank,) = figures["banks"]
    assert (bank["calls"], bank["failures"]) == (3, 2)
    assert len(figures["hours"]) in (1, 2)
    assert "2 of 3 fetches failed, of 1 of 2 customers" in find(draft, "2(c)")
    assert f"{bank['name']} (2 of 3 calls)" in find(draft, "2(g)")
    assert find(draft, "2(d)").startswith("clients, financial counterparts")
    assert f"first failure recorded: {bank['firstFailureAt']}" in find(draft, "3(b)")
    assert find(draft, "3(g)") == "account information"
    assert "UNREACHABLE (2)" in find(draft, "4(a)")
    assert figures["complete"] is True
    assert [(threshold["measured"], threshold["above"]) for threshold in figures["thresholds"]] == [
        ("50.0%", True), ("1", False), ("1 h 0 min from first to last failed call", False),
    ]  # fmt: skip
    assert "9(1)(a): more than 10 % of clients (50.0%)" in find(draft, "3(d)")


@pytest.mark.parametrize("form", ["json", "markdown"])
async def test_a_draft_names_no_person(operator, incident, kontor, opened, outage, form):
    """Names, IBANs, pseudonyms, logins and operators stand in the tables that are counted, and in no draft."""
    pseudonym = operator.owner.execute("select pseudonym from users where id = %s", [outage[0]]).fetchone()[0]
    actor, subject = f"user {pseudonym} at client north/app", f"user {NAME} {IBAN}"
    async with operator.services.database.transaction() as connection:
        await auditing.record(connection, None, "operator olga", "access.pause", f"access {outage[1]} of {outage[0]}")
        await auditing.record(connection, operator.tenants["south"], actor, "token.issue", subject, AuditResult.REFUSED)
    operator.owner.execute("delete from egress_days")
    operator.owner.execute(
        "insert into egress_days values (%s, %s, 'webhook', 0, 5, 0, 0, 0), (%s, %s, 'bank', 0, 5, 0, 0, 0)",
        [TODAY, "erika-mustermann.example", TODAY, "fints.bank.example"],
    )
    texts = []
    for report in FIELDS:
        arguments = ["dora", "incident", "draft", opened, report, *(["--json"] if form == "json" else [])]
        code, out, _ = await kontor(*arguments)
        assert code == 0
        texts.append(out)
    text = "\n".join(texts)
    assert "access.pause" in text
    assert "token.issue" in text
    traces = [
        NAME,
        "Mustermann",
        IBAN,
        str(pseudonym),
        str(outage[0]),
        outage[1],
        "olga",
        "erika",
        "north",
        "south",
        "anna",
    ]
    assert [trace for trace in traces if trace in text] == []


async def test_markdown_keeps_a_title_within_its_cell_and_names_the_file_it_wrote(incident, kontor, tmp_path):
    reference = (await incident("open", "Outage | of <b>banks</b>"))["reference"]
    place = tmp_path / "initial.md"
    code, out, err = await kontor("dora", "incident", "draft", reference, "initial", "--output", str(place))
    assert (code, out, f"Written to {place}." in err) == (0, "", True)
    text = place.read_text(encoding="utf-8")
    assert text.startswith(f"# Initial notification, {reference}: DRAFT\n")
    assert "Outage \\| of &lt;b>banks" in text
    assert "Nothing is sent." in err


async def test_counts_older_than_what_is_kept_are_called_incomplete(incident):
    reference = (await incident("open", "Old", "--aware", ago(days=33).isoformat()))["reference"]
    assert (await incident("draft", reference, "initial"))["figures"]["complete"] is False


async def test_an_earlier_incident_is_named_in_the_final_report(incident, opened):
    second = (await incident("open", f"Again {uuid4().hex[:4]}"))["reference"]
    assert find(await incident("draft", second, "final"), "4(f)").endswith(f"six months before: {opened}")
