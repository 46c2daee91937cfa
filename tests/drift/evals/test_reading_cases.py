"""Files of cases: what is taken over, and what is refused by name and line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drift.evals.case import prompt
from drift.evals.cases import mapped, read, recognise
from drift.evals.errors import EvalError, FileError

INSPECT = b"""{"id": "inv-01", "input": "Total of 3 items at 19.90 EUR?", "target": "59.70", "metadata": {"topic": "billing"}}
{"id": "mcq-01", "input": "Which port does HTTPS use?", "choices": ["21", "80", "443"], "target": "C"}

{"id": "chat-01", "input": [{"role": "system", "content": "One word."}, {"role": "user", "content": "Colour of grass?"}], "target": ["green", "Green"]}
{"id": "box", "input": "x", "target": "y", "sandbox": "docker"}
"""
PROMPTFOO = b"""prompts: ["Answer briefly: {{question}}", "file://prompt.txt", "{% if a %}x{% endif %}"]
evaluateOptions: {repeat: 5}
tests:
  - description: refund window
    vars: {question: "How many days to return an item?"}
    assert:
      - {type: icontains, value: "30 days"}
      - {type: llm-rubric, value: "Mentions that the receipt is needed", threshold: 0.7, weight: 2}
    metadata: {topic: returns}
  - vars: {question: "short?"}
    assert:
      - type: javascript
        value: "output.length < 10"
  - vars: {question: "file://secret.txt"}
  - vars: {question: "x"}
    assert: [{type: similar, value: y}]
  - vars: {question: "x"}
    assert: [{type: equals, value: "python: open('/etc/passwd')"}]
"""
PROMPTFOO_CSV = b"""question,__expected1,__expected2,__metadata:topic,__threshold
What is 12*12?,"equals: 144",,math,
What is 2*12?,24,"icontains-any: 24, twenty-four",math,0.5
Bad,"javascript: output.length < 10",,math,
"""
OPENAI = b"""{"input": [{"role": "system", "content": "Reply Yes or No."}, {"role": "user", "content": "Is 91 prime?"}], "ideal": ["No", "no"]}
{"input": "2 + 2", "ideal": 4}
"""


def test_inspect_samples() -> None:
    assert recognise("cases.jsonl", INSPECT) == "inspect"
    found = read("cases.jsonl", INSPECT, "inspect")
    assert [case.key for case in found.cases] == ["inv-01", "mcq-01", "chat-01"]
    assert found.cases[2].targets == ("green", "Green")
    assert "C) 443" in prompt(found.cases[1])[-1]["content"]
    assert [str(problem) for problem in found.problems] == [
        "line 5: 'sandbox' is refused: it asks for a machine to run things on"
    ]


def test_inspect_as_csv_with_choices_in_a_cell() -> None:
    found = read("cases.csv", b'input,target,choices\nPort of HTTPS?,443,"21, 80, 443"\n', "inspect")
    assert found.cases[0].choices == ("21", "80", "443")
    assert found.cases[0].targets == ("C",), "a target that is a choice becomes its letter"
    assert found.graders == ({"kind": "choice"},)


def test_promptfoo_yaml_names_what_it_refuses_with_its_line() -> None:
    found = read("promptfooconfig.yaml", PROMPTFOO, "promptfoo")
    assert found.repeats == 5
    assert found.templates == ("Answer briefly: {{question}}",)
    assert [case.key for case in found.cases] == ["refund window"]
    assert found.cases[0].graders[1]["weight"] == 2
    said = [str(problem) for problem in found.problems]
    assert any(line.startswith("prompt: file:// is refused") for line in said)
    assert any("template code" in line for line in said)
    assert any(line.startswith("line 12: javascript: is refused") for line in said)
    assert any(line.startswith("line 14: vars: file:// is refused") for line in said)
    assert any("line 16: the assertion 'similar' has no equal here" in line for line in said)
    assert any(line.startswith("line 18: python: is refused") for line in said)


def test_promptfoo_csv() -> None:
    assert recognise("tests.csv", PROMPTFOO_CSV) == "promptfoo"
    found = read("tests.csv", PROMPTFOO_CSV, "promptfoo")
    assert [case.graders[0]["kind"] for case in found.cases] == ["exact", "exact"]
    assert found.cases[1].graders[1] == {"kind": "includes", "value": ["24", "twenty-four"]}
    assert found.cases[1].threshold == 0.5
    assert found.cases[0].variables == {"question": "What is 12*12?"}
    assert [problem.line for problem in found.problems] == [4]


def test_openai_evals_match_is_starts_with() -> None:
    assert recognise("samples.jsonl", OPENAI) == "openai"
    found = read("samples.jsonl", OPENAI, "openai")
    assert found.graders == ({"kind": "includes", "place": "start", "ignore_case": False},)
    assert found.cases[1].targets == ("4",)


def test_any_table_through_a_mapping() -> None:
    rows = [{"q": {"text": "1 + 1"}, "gt": "2", "topic": "sums"}, {"q": {"text": ""}, "gt": "3", "topic": "sums"}]
    data = "\n".join(map(json.dumps, rows)).encode()
    columns = mapped.CaseColumns(question="q.text", target="gt", cluster="topic")
    found = mapped.read("a.jsonl", data, columns, [{"kind": "number"}])
    assert found.cases[0].cluster == "sums"
    assert [str(problem) for problem in found.problems] == ["line 2: 'input' is empty"]
    assert "q.text" in mapped.columns_of(rows)
    assert mapped.guess(["id", "question", "answer"]) == mapped.CaseColumns("question", "answer", "id")


def test_keys_that_come_twice_stay_apart() -> None:
    found = read(
        "a.jsonl", b'{"id": "a", "input": "x", "target": "1"}\n{"id": "a", "input": "y", "target": "2"}\n', "inspect"
    )
    assert [case.key for case in found.cases] == ["a", "a-2"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe\x00", "line 1: this is not UTF-8"),
        (b'{"input": "x"}\n{"input": ', "line 2: not JSON"),
        (b"a,a\n1,2\n", "twice"),
        (b"a,b\n1\n", "line 2: 1 cells"),
        (b"", "no rows"),
        (b'"' + b"[" * 20000, "not"),
    ],
)
def test_a_broken_file_is_named_with_its_line(data: bytes, words: str) -> None:
    name = "file.jsonl" if data[:1] == b"{" else "file.csv"
    with pytest.raises(FileError, match=words):
        (recognise(name, data), list(mapped.rows_of(name, data)))


def test_yaml_cannot_make_objects_or_unfold_without_end() -> None:
    with pytest.raises(FileError):
        read("a.yaml", b"tests: !!python/object/apply:os.system ['true']", "promptfoo")
    layers = [b"a: &a [x,x,x,x,x,x,x,x,x]\n"]
    layers += [f"{c}: &{c} [{','.join(['*' + p] * 9)}]\n".encode() for p, c in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(FileError, match="unfold"):
        read("a.yaml", b"".join(layers), "promptfoo")


def test_a_template_names_variables_and_runs_nothing() -> None:
    case = read("p.csv", b"question,__expected\nhow?,x\n", "promptfoo").cases[0]
    assert prompt(case, "Q: {{ question }}")[0]["content"] == "Q: how?"
    assert prompt(case, "{{question}}", system="Be brief.")[0] == {"role": "system", "content": "Be brief."}
    with pytest.raises(EvalError, match="does not have"):
        prompt(case, "{{other}}")
    for code in ("{{ question | upper }}", "{{ cycler.__init__() }}", "{% for x in y %}{% endfor %}"):
        with pytest.raises(EvalError, match="template code"):
            prompt(case, code)
    with pytest.raises(EvalError, match="needs a prompt template"):
        prompt(case)


@given(
    st.binary(max_size=300),
    st.sampled_from(["a.yaml", "a.csv", "a.jsonl", "a.json"]),
    st.sampled_from(["inspect", "promptfoo", "openai"]),
)
def test_no_file_does_worse_than_an_error_in_words(data: bytes, name: str, kind: str) -> None:
    try:
        read(name, data, kind)
    except EvalError as error:
        if not str(error):
            raise
