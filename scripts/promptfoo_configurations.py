"""Whole configurations that `compare_promptfoo.py` has both tools run. Nothing leaves this machine, and all of it is ours."""

# Stands for the address of a server that answers `{"answer": "asked QUESTION", "n": …}` to `{"question": …}`, with the
# number of messages where the question is a conversation.
ADDRESS = "http://127.0.0.1:0/ask"

BOT_PY = '''
def call_api(prompt, options, context):
    tone = (options.get("config") or {}).get("tone", "plain")
    return {"output": f"{tone}: {prompt}", "tokenUsage": {"total": 12, "prompt": 8, "completion": 4}, "cost": 0.002}
'''

BOT_JS = '''
module.exports = class {
  constructor(options) { this.label = options.label; this.config = options.config ?? {}; }
  id() { return "bot"; }
  async callApi(prompt) {
    return { output: { words: prompt.split(" "), first: prompt[0] ?? "" } };
  }
};
'''

PROMPT_JS = '''
module.exports = ({ vars, provider }) => `For ${provider.label}: the capital of ${vars.country}`;
'''

PROMPT_PY = '''
def build(context):
    return f"Name the capital of {context['vars']['country']} for {context['provider']['label']}."
'''

CHECK_JS = '''
module.exports = (output, context) => ({
  pass: context.vars.country === "Peru" && context.test.assert.length === 2,
  score: context.vars.country === "Peru" ? 0.75 : 0, reason: `of ${context.test.vars.country}`,
});
'''

CHECK_PY = '''
def get_assert(output, context):
    return {"pass": context["vars"]["country"] in output, "score": 0.5, "reason": context["test"]["description"] or ""}
'''

TESTS_CSV = '''country,__expected1,__expected2,__metric,__description
Norway,icontains:norway,not-contains:Sweden,place,finds it
Peru,contains:Peru,contains:Lima,place,misses one
'''

BOTH = ["Capital of {{ country }}", "Name the capital of {{ country }}, please"]
PERU, CHILE, LIMA = ({"type": "contains", "value": value} for value in ("Peru", "Chile", "Lima"))


def having(assertion, **keys):
    return {**assertion, **keys}


def group(*inner, **keys):
    return {"type": "assert-set", "assert": list(inner), **keys}


def test(*assertions, vars=None, **keys):
    return {"vars": vars or {"country": "Peru"}, "assert": list(assertions), **keys}


def javascript(code, **keys):
    return {"type": "javascript", "value": code, **keys}


def config(tests, prompts=("Capital of {{ country }}",), providers=("echo",), **keys):
    return {"prompts": list(prompts), "providers": list(providers), "tests": tests, **keys}


def basic():
    two = [{"id": "file://bot.py", "label": "kind", "config": {"tone": "kind"}},
           {"id": "file://bot.py", "label": "stern", "config": {"tone": "stern"}}]
    bot = {"bot.py": BOT_PY}
    yield "two prompts and one provider", config([test(PERU), test(CHILE)], BOTH), {}
    yield "two providers", config([test(PERU, {"type": "starts-with", "value": "kind"})], providers=two), bot
    yield "two prompts and two providers", config(
        [test(PERU, {"type": "contains", "value": "please"}), test(LIMA, threshold=0)], BOTH, two), bot
    yield "default test", config(
        [test(LIMA), test(PERU, vars={"country": "Peru", "tone": "calm"})], ["{{ tone }}: {{ country }}"],
        defaultTest={"vars": {"tone": "loud"}, "assert": [{"type": "contains", "value": "{{ tone }}"}]}), {}
    yield "threshold of the default test", config(
        [test(PERU, LIMA), test(PERU, LIMA, threshold=0.75)], defaultTest={"threshold": 0.5}), {}
    yield "variables that are lists", config([test({"type": "contains", "value": "{{ country }}"}, PERU,
                                              vars={"country": ["Peru", "Chile"], "tone": ["a", "b"]})],
                                        ["{{ tone }} {{ country }}"]), {}
    yield "lists of numbers", config([test({"type": "equals", "value": "n 1,2.5,3"},
                                      {"type": "equals", "value": "n {{ n }}"}, vars={"n": [1, 2.5, 3.0]})],
                                ["n {{ n }}"]), {}
    yield "lists that stay", config([test({"type": "equals", "value": "a,b"}, vars={"n": ["a", "b"]},
                                    options={"disableVarExpansion": True})], ["{{ n }}"]), {}
    yield "scenarios", {"prompts": ["{{ greeting }} {{ country }}"], "providers": ["echo"], "scenarios": [{
        "config": [{"vars": {"country": "Peru"}}, {"vars": {"country": "Chile"}}],
        "tests": [{"vars": {"greeting": "Hi"}, "assert": [PERU]},
                  {"vars": {"greeting": "Yo"}, "assert": [{"type": "contains", "value": "Yo {{ country }}"}]}]}]}, {}
    yield "table of tests", config("file://tests.csv"), {"tests.csv": TESTS_CSV}
    yield "prompts of a text file", config([test(PERU)], ["file://prompts.txt"]), {
        "prompts.txt": "First: {{ country }}\n---\nSecond: {{ country | upper }}\n"}
    yield "choice of prompts and providers", config(
        [test(PERU, prompts=["long"]), test(CHILE, providers=["kind"])],
        [{"raw": "short {{ country }}", "label": "short"}, {"raw": "a long one {{ country }}", "label": "long"}],
        [*two[:1], "echo"]), bot


def templates():
    values = {"n": 3, "whole": 2.0, "part": 0.5, "list": [1, 2], "map": {"k": "v"}, "yes": True, "none": None,
              "text": "two\nlines\n", "large": 1e21, "nested": [[1, 2], [3]]}
    printed = ["{{ n }}|{{ whole }}|{{ part }}|{{ list }}|{{ map }}|{{ yes }}|{{ none }}|{{ large }}|{{ nested }}|{{ gone }}",
               "{{ text | upper }}|{{ list | join('+') }}|{{ map | dump }}|{{ list }}|{{ whole }}|{{ none }}|{{ n ~ list }}"]
    yield "printed values", config([test(
        {"type": "starts-with", "value": "3|2|0.5|1,2|[object Object]|true||1e+21|1,2,3|"},
        {"type": "equals", "value": 'TWO\nLINES|1+2|{"k":"v"}|1,2|2||31,2'}, vars=values, threshold=0.5)], printed), {}
    yield "loops and conditions", config(
        [test({"type": "equals", "value": "[1][2] yes k=v;"}, vars=values)],
        ["{% for item in list %}[{{ item }}]{% endfor %} {% if yes %}yes{% else %}no{% endif %} {% for k, v in map %}{{ k }}={{ v }};{% endfor %}"]), {}
    yield "conversation with quotes", config(
        [test({"type": "is-json"}, {"type": "contains", "value": '\\"hi\\"'}, javascript("JSON.parse(output)[0].content"
              " === 'say \"hi\" 1,2'"), vars={"say": 'say "hi"', "list": [1, 2]})],
        ['[{"role": "user", "content": "{{ say }} {{ list }}"}]']), {}
    yield "conversation in a file", config(
        [test(javascript("JSON.parse(output).length === 2 && JSON.parse(output)[1].content === 'Capital of Peru?'"))],
        ["file://chat.json"]), {"chat.json": '[{"role": "system", "content": "Be brief."},\n'
                                             ' {"role": "user", "content": "Capital of {{ country }}?"}]'}
    yield "JSON that is no conversation", config(
        [test({"type": "is-json"}, javascript("JSON.parse(output).q === 'a \"b\"'"), vars={"q": 'a "b"'})],
        ['{"q": "{{ q }}"}']), {}
    yield "variables in variables", config(
        [test({"type": "equals", "value": "Capital of Peru 1,2"},
              vars={"ask": "Capital of {{ country }} {{ list }}", "country": "Peru", "list": [1, 2]})], ["{{ ask }}"]), {}
    yield "functions that make prompts", config(
        [test({"type": "contains", "value": "first"}, PERU)],
        [{"id": "file://prompt.js", "label": "js"}, {"id": "file://prompt.py:build", "label": "py"}],
        [{"id": "echo", "label": "first"}, {"id": "file://bot.py", "label": "second"}]), {
            "prompt.js": PROMPT_JS, "prompt.py": PROMPT_PY, "bot.py": BOT_PY}
    yield "transformed variables", config(
        [test(PERU, options={"transformVars": "({ ...vars, country: vars.country.trim() })"},
              vars={"country": "  Peru "}), ], ["<{{ country }}>"]), {}
    yield "prefix and suffix", config(
        [test({"type": "equals", "value": "> Capital of Peru <"}, options={"prefix": "> ", "suffix": " <"})]), {}


def outputs():
    code = {"bot.js": BOT_JS}
    js = [{"id": "file://bot.js", "label": "words"}]
    yield "answers that are objects", config(
        [test(javascript("output.words.length === 3"), javascript("output.first === 'C'"), {"type": "is-json"},
              {"type": "contains", "value": '"first":"C"'}, threshold=0.6)], providers=js), code
    yield "transform to an object", config(
        [test(javascript("output.country === 'Peru'"), {"type": "python", "value": "output['country'] == 'Peru'"},
              {"type": "equals", "value": {"country": "Peru", "n": 2}}, {"type": "contains-json"},
              {"type": "starts-with", "value": '{"country":"Peru"'},
              options={"transform": "({country: output.split(' ').pop(), n: 2})"})]), {}
    yield "transform to a number", config(
        [test(javascript("output === 15"), {"type": "equals", "value": "15"}, javascript("output - 14.5"),
              options={"transform": "output.length"})]), {}
    yield "transforms of a provider and a test", config(
        [test(javascript("output.n === 2"), options={"transform": "({n: output.words.length})"})],
        ["Capital Peru"], [{**js[0], "transform": "({words: output.words})"}]), code
    yield "transform of an assertion", config(
        [test(javascript("output.words[1] === 'of'"), {"type": "equals", "value": "of", "transform": "output.words[1]"})],
        providers=js), code
    yield "stored answers", config(
        [test(PERU, providerOutput="Peru it is"), test(LIMA, providerOutput="Peru it is")]), {}
    yield "stored answers that are objects", config(
        [test({"type": "is-json"}, javascript("output.a === 1"), providerOutput={"a": 1})]), {}
    yield "cost and tokens of a program", config(
        [test({"type": "cost", "threshold": 0.01}, javascript("context.providerResponse.tokenUsage.total === 12")),
         test({"type": "cost", "threshold": 0.001})], providers=["file://bot.py"]), {"bot.py": BOT_PY}
    yield "program", config([test(PERU, {"type": "starts-with", "value": "said"})], providers=["exec:sh bot.sh"]), {
        "bot.sh": 'printf "said %s" "$1"\n'}


def addresses():
    def address(body, **keys):
        return {"id": "http", "label": "service", "config": {
            "url": ADDRESS, "method": "POST", "headers": {"Content-Type": "application/json"}, "body": body, **keys}}

    yield "address", config(
        [test(PERU, {"type": "starts-with", "value": "asked"}), test(LIMA)],
        providers=[address({"question": "{{prompt}}", "about": "{{country}}"}, transformResponse="json.answer")]), {}
    yield "address that answers with an object", config(
        [test(javascript("output.n === 1"), {"type": "contains", "value": '"n":1'})],
        providers=[address({"question": "{{prompt}}"}, transformResponse="({n: json.n})")]), {}
    yield "address that takes a conversation", config(
        [test(javascript("JSON.parse(output).n === 2"), {"type": "contains", "value": "Capital of Peru?"})],
        ['[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of {{ country }}?"}]'],
        [address({"question": "{{prompt}}"}, transformResponse="JSON.stringify(json)")]), {}


def scores():
    yield "metrics", config(
        [test(having(PERU, metric="place"), having(CHILE, metric="place"), having(LIMA, metric="town")),
         test(having(PERU, metric="place"), having(PERU, metric="town"))]), {}
    yield "metrics with weights", config(
        [test(having(PERU, metric="place", weight=3), having(CHILE, metric="place"), threshold=0.7),
         test(having(PERU, metric="place", weight=3), having(CHILE, metric="place"), threshold=0.8)]), {}
    yield "metrics with variables", config(
        [test(having(PERU, metric="about {{ country }}")), test(having(CHILE, metric="about {{ country }}"))]), {}
    yield "derived metrics", config(
        [test(having(PERU, metric="place"), having(LIMA, metric="town"))],
        derivedMetrics=[{"name": "both", "value": "(place + town) / 2"}]), {}
    yield "weights and thresholds", config(
        [test(having(PERU, weight=2), having(LIMA, weight=weight), threshold=threshold)
         for weight, threshold in ((1, 0.6), (1, 0.7), (6, 0.25), (0, 1), (6, 0.3))]), {}
    yield "sets", config(
        [test(group(PERU, LIMA, threshold=0.5), CHILE), test(group(PERU, LIMA, threshold=0.5), PERU),
         test(group(PERU, LIMA), PERU), test(group(having(PERU, weight=3), LIMA, threshold=0.75, weight=2), CHILE, threshold=0.5)]), {}
    yield "code that scores", config(
        [test(javascript("0.4"), javascript("0.8")), test(javascript("0.4", threshold=0.5)),
         test(javascript("({pass: true, score: 0.3, reason: ''})")), test(javascript("output.includes('Peru') ? 1 : 0"))]), {}
    yield "code in files", config(
        [test(javascript("file://check.js"), {"type": "python", "value": "file://check.py"}, description="in files"),
         test(javascript("file://check.js"), {"type": "python", "value": "file://check.py"}, description="in files again",
              vars={"country": "Chile"})]), {"check.js": CHECK_JS, "check.py": CHECK_PY}
    yield "context of code", config(
        [test(javascript("context.test.assert[0].type === 'javascript' && context.provider.id() === 'echo'"),
              javascript("context.vars.text === 'a' && context.prompt === 'Peru a'"),
              javascript("context.config.limit", config={"limit": 0.5}),
              {"type": "python", "value": "len(context['test']['assert']) == 4"},
              vars={"country": "Peru", "text": "a\n"})], ["{{ country }} {{ text }}"]), {}
    yield "negated assertions", config(
        [test({"type": "not-contains", "value": "Lima"}, {"type": "not-equals", "value": "x"}, {"type": "not-regex", "value": "^C"}),
         test({"type": "not-contains", "value": "Lima"}, {"type": "not-starts-with", "value": "x"})]), {}
    yield "tests without assertions", config([{"vars": {"country": "Peru"}}, test(PERU)]), {}
    yield "assertions that weigh nothing", config([test(having(PERU, weight=0), having(LIMA, weight=0))]), {}
    yield "references", config(
        [test({"$ref": "#/assertionTemplates/peru"}, {"$ref": "#/assertionTemplates/brief"})],
        assertionTemplates={"peru": PERU, "brief": {"type": "javascript", "value": "output.length < 10"}}), {}


def all_configurations():
    for part in (basic, templates, outputs, addresses, scores):
        yield from part()
