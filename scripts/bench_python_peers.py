"""One package at one task, timed inside its own process; bench_python.py starts it with the Python of the package.

usage: bench_python_peers.py PACKAGE checks N
       bench_python_peers.py PACKAGE judges N WIDTH URL
       bench_python_peers.py PACKAGE rewards GROUPS SIZE CRITERIA WIDTH URL
It prints one line of JSON. What is timed is grading alone, without imports and without making the objects that a
package wants as input, which favours the package.
"""

import asyncio
import inspect
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings

# Before any of their imports: nothing is sent or written, and a local server needs no real key.
os.environ |= {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1", "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "LANGSMITH_TRACING": "false", "RAGAS_DO_NOT_TRACK": "true", "OPENAI_API_KEY": "none", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}
warnings.simplefilter("ignore")

QUESTION = "Is the answer polite?"
FOX = "The quick brown fox jumps over the lazy dog. " * 20


def make_outputs(n):
    return [f"Answer {index}: it is because it is so. {FOX}" for index in range(n)]


def make_run():
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"fox\"}"}}
    return [{"role": "user", "content": "?"}, {"role": "assistant", "content": "", "tool_calls": [call]}]


def client(url):
    import openai

    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, timeout=120)


async def gather(calls, width):
    """Awaits all, `width` at a time; gives what each of them returns."""
    turns = asyncio.Semaphore(width)

    async def take_turn(call):
        async with turns:
            return await call()

    return await asyncio.gather(*(take_turn(call) for call in calls))


class Jurist:
    KINDS = {"contains": {"value": "because"}, "regex": {"value": "b.c.use"}, "exact_match": {}, "edit_distance": {},
             "json_valid": {}}

    def checks(self, n):
        import jurist

        rows = [{"id": index, "output": text, "reference": text[:400]} for index, text in enumerate(make_outputs(n))]
        for kind, params in self.KINDS.items():
            rubric = jurist.Rubric.from_dict({"criteria": [{"name": "c", "check": {"type": kind, **params}}]})
            yield kind, lambda rubric=rubric: len(rubric.grade_many(rows))
        runs = [{"id": index, "output": make_run(), "reference": make_run()} for index in range(n)]
        check = {"type": "trajectory_match", "mode": "strict"}
        matching = jurist.Rubric.from_dict({"criteria": [{"name": "c", "check": check}]})
        assert matching.grade_many(runs[:10]).pass_rate == 1.0
        yield "trajectory_match", lambda: len(matching.grade_many(runs))

    def judges(self, n, width, url):
        import jurist

        rubric = jurist.Rubric.from_dict({"criteria": [{"name": "polite", "description": QUESTION, "scale": "binary"}]})
        rows = [{"id": index, "output": text} for index, text in enumerate(make_outputs(n))]

        def grade():
            verdicts = rubric.grade_many(
                rows, judge="vllm/judge", base_url=f"{url}/v1", concurrency=width, cache="off")
            assert verdicts.pass_rate == 1.0, verdicts[0].error
            return len(verdicts.graded)

        return grade

    def rewards(self, groups, size, n_criteria, width, url):
        """A gate that a quarter of the completions fail, and criteria that a judge decides."""
        import jurist

        criteria = [{"name": "on topic", "check": {"type": "contains", "value": "because"}, "required": True}]
        criteria += [{"name": f"c{index}", "description": f"{QUESTION} ({index})", "scale": "binary"}
                     for index in range(n_criteria)]
        reward = jurist.reward({"criteria": criteria}, judge="vllm/judge", base_url=f"{url}/v1", concurrency=width,
                               cache="off")
        outputs = make_outputs(groups * size)
        outputs = [text.replace("because", "so") if index % 4 == 0 else text for index, text in enumerate(outputs)]
        prompts = [f"prompt {index // size}" for index in range(groups * size)]

        def grade():
            rewards = reward(prompts=prompts, completions=outputs)
            failed = sum(score == 0.0 for score in rewards)
            assert failed == -(-len(outputs) // 4) and all(score is not None for score in rewards)
            return len(rewards)

        return grade


class Command:
    """The `jurist` command of the same wheel, on the same rows: what the library adds to it."""

    def judges(self, n, width, url):
        folder = tempfile.mkdtemp()
        with open(f"{folder}/rows.jsonl", "w") as file:
            for index, text in enumerate(make_outputs(n)):
                file.write(json.dumps({"id": index, "output": text}) + "\n")
        with open(f"{folder}/rubric.json", "w") as file:
            json.dump({"criteria": [{"name": "polite", "description": QUESTION, "scale": "binary"}]}, file)
        command = [sys.executable, "-m", "jurist", "grade", "rows.jsonl", "--rubric", "rubric.json", "--judge", "vllm/judge",
                   "--base-url", f"{url}/v1", "--concurrency", str(width), "--no-cache"]

        def grade():
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            return done.stdout.count('"status":"pass","verdict"')

        return grade


class Autorubric:
    def judges(self, n, width, url):
        from autorubric import LLMConfig, Rubric
        from autorubric.graders import CriterionGrader

        config = LLMConfig(model="openai/judge", api_base=f"{url}/v1", api_key="none", max_parallel_requests=width)
        grader = CriterionGrader(judge_model_config=config)
        rubric = Rubric.from_dict([{"weight": 1.0, "requirement": QUESTION}])
        return lambda: len(asyncio.run(gather(
            [lambda text=text: rubric.grade(to_grade=text, grader=grader) for text in make_outputs(n)], width)))


class Deepeval:
    def checks(self, n):
        from deepeval.metrics import ExactMatchMetric, PatternMatchMetric
        from deepeval.test_case import LLMTestCase

        cases = [LLMTestCase(input="", actual_output=text, expected_output=text[:400]) for text in make_outputs(n)]
        metrics = {"exact_match": ExactMatchMetric(), "regex": PatternMatchMetric("(?s:.*)b.c.use(?s:.*)")}
        for kind, metric in metrics.items():
            yield kind, lambda metric=metric: len([metric.measure(case, _show_indicator=False) for case in cases])

    def judges(self, n, width, url):
        import openai
        from deepeval.metrics import GEval
        from deepeval.models import LocalModel
        from deepeval.test_case import LLMTestCase, SingleTurnParams

        schema = {"type": "object", "properties": {"reason": {"type": "string"}, "score": {"type": "number", "maximum": 10}}}
        reply = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        judge = LocalModel("judge", "none", f"{url}/v1", generation_kwargs={"response_format": reply})
        # As shipped it makes a client, certificates and all, for every call.
        judge.kwargs["http_client"] = openai.DefaultAsyncHttpxClient()
        cases = [LLMTestCase(input="", actual_output=text) for text in make_outputs(n)]

        async def measure(case):
            metric = GEval(name="polite", evaluation_steps=[QUESTION], model=judge,
                           evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT])
            return await metric.a_measure(case, _show_indicator=False)

        return lambda: len(asyncio.run(gather([lambda case=case: measure(case) for case in cases], width)))


class Autoevals:
    def checks(self, n):
        from autoevals import ExactMatch, Levenshtein, ValidJSON

        outputs = make_outputs(n)
        for kind, scorer in {"exact_match": ExactMatch(), "edit_distance": Levenshtein(), "json_valid": ValidJSON()}.items():
            yield kind, lambda scorer=scorer: len([scorer.eval(output=text, expected=text[:400]) for text in outputs])

    def judges(self, n, width, url):
        from autoevals.llm import LLMClassifier

        judge = LLMClassifier(name="polite", prompt_template=QUESTION + "\n{{output}}", choice_scores={"yes": 1, "no": 0},
                              model="judge", client=client(url))
        return lambda: len(asyncio.run(gather(
            [lambda text=text: judge.eval_async(output=text, expected="") for text in make_outputs(n)], width)))


class Ragas:
    def checks(self, n):
        from ragas.dataset_schema import SingleTurnSample
        from ragas.metrics import ExactMatch, NonLLMStringSimilarity, StringPresence

        outputs = make_outputs(n)
        exact = [SingleTurnSample(response=text, reference=text[:400]) for text in outputs]
        present = [SingleTurnSample(response=text, reference="because") for text in outputs]
        kinds = {"exact_match": (ExactMatch, exact), "contains": (StringPresence, present),
                 "edit_distance": (NonLLMStringSimilarity, exact)}
        for kind, (make, samples) in kinds.items():
            async def score(metric, samples=samples):
                return len([await metric.single_turn_ascore(sample) for sample in samples])

            yield kind, lambda make=make, score=score: asyncio.run(score(make()))

    def judges(self, n, width, url):
        from ragas.llms import llm_factory
        from ragas.metrics import DiscreteMetric

        metric = DiscreteMetric(name="polite", allowed_values=["yes", "no"], prompt=QUESTION + "\n{response}")

        llm = llm_factory("judge", client=client(url))
        return lambda: len(asyncio.run(gather(
            [lambda text=text: metric.ascore(llm=llm, response=text) for text in make_outputs(n)], width)))


class Agentevals:
    def checks(self, n):
        from agentevals.trajectory.match import create_trajectory_match_evaluator

        messages = make_run()
        evaluator = create_trajectory_match_evaluator(trajectory_match_mode="strict")
        yield "trajectory_match", lambda: len(
            [evaluator(outputs=messages, reference_outputs=messages) for _ in range(n)])

    def judges(self, n, width, url):
        from agentevals.trajectory.llm import create_async_trajectory_llm_as_judge

        judge = create_async_trajectory_llm_as_judge(prompt=QUESTION + "\n{outputs}", model="judge", judge=client(url))
        runs = [[{"role": "user", "content": "?"}, {"role": "assistant", "content": text}] for text in make_outputs(n)]
        return lambda: len(asyncio.run(gather([lambda run=run: judge(outputs=run) for run in runs], width)))


class Trl:
    """TRL's own path is a reward function in plain Python; it has format rewards, and awaits asynchronous functions."""

    def checks(self, n):
        from trl.rewards import think_format_reward

        completions = [[{"content": f"<think>{text}</think>yes"}] for text in make_outputs(n)]
        yield "regex", lambda: len(think_format_reward(completions))

    def judges(self, n, width, url):
        import trl  # noqa: F401

        judge = client(url)

        async def reward(completions):
            async def ask(text):
                messages = [{"role": "user", "content": f"{QUESTION} Answer with JSON.\n{text}"}]
                reply = await judge.chat.completions.create(model="judge", messages=messages)
                return float(bool(json.loads(reply.choices[0].message.content)["verdict"]))

            return await gather([lambda text=text: ask(text) for text in completions], width)

        return lambda: len(asyncio.run(reward(make_outputs(n))))


def measure(work):
    def cpu():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    started, used = time.perf_counter(), cpu()
    done = work()
    return {"n": done, "seconds": time.perf_counter() - started, "cpu": cpu() - used,
            "peak_mb": max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024}


def main(package, task, *arguments):
    peer = globals()[package.capitalize()]()
    given = [int(text) if text.isdigit() else text for text in arguments]
    if task == "checks":
        work = getattr(peer, "checks", lambda n: iter(()))(*given)
        print(json.dumps({kind: measure(run) for kind, run in work}))
        return
    work = getattr(peer, task)(*given)
    assert not inspect.isawaitable(work)
    print(json.dumps(measure(work)))


if __name__ == "__main__":
    main(*sys.argv[1:])
