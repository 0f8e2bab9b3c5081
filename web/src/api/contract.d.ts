// Generated from schemas/run.schema.json and schemas/annotation.schema.json by scripts/types.mjs; do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description One try that did not give an answer. */
        Attempt: {
            /**
             * @description Error message; empty if there is none.
             * @default
             */
            detail?: string;
            /** @description Kind of error. */
            failure: components["schemas"]["Failure"];
            /** @description Time of the attempt; absent if unknown. */
            time?: components["schemas"]["Time"] | null;
        };
        /** @description How many judge calls grading takes; a tree decides on the way. */
        CallRange: {
            /**
             * Format: uint32
             * @description Where every condition leaves its criteria out.
             */
            least: number;
            /**
             * Format: uint32
             * @description Where every reply has to be repaired, and everything is left out that can be asked again.
             */
            limit: number;
            /**
             * Format: uint32
             * @description Where every reply is understood.
             */
            most: number;
        };
        /** @description The data of a case that an external check gets. */
        CaseData: {
            /** @description Metadata of the case, as the file has them. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Target that answered, with `id` and `label`; absent if the answer was recorded. */
            provider?: unknown;
            /** @description Variables of the case, and the fields of its data row. */
            vars?: {
                [key: string]: unknown;
            };
        };
        /** @description Parts of the name of a case that has rows, prompts, targets, models or trials. */
        CaseNameParts: {
            /**
             * Format: uint32
             * @description Row of the data, from 1.
             */
            row?: number | null;
            /** @description Prompt, target and model, as far as the case has several. */
            variant?: string[];
            /** @description The name that is written, with the fields of the row. */
            written: string;
        };
        /** @description Where a case is written, for messages and for reports that point into files. */
        CaseOrigin: {
            /** @description Relative to the folder in which the run was started, where it is below it. */
            file: string;
            /**
             * Format: uint32
             * @description From 1.
             */
            line: number;
            /** @description File of the suite, if the case is written in another file, such as a row in a data file. */
            suite?: string | null;
        };
        /** @description Result of one case. */
        CaseResult: {
            /** @description The name that all trials of the case share; absent if the case has one trial. */
            base?: string | null;
            /** @description Id of the graded candidate, as in its grades. */
            candidate: string;
            /** @description Name of the case. If a case has several trials, the name ends with the number of the trial. */
            case: string;
            /** @description Grades of all graders, from which the verdict is computed. */
            grades: components["schemas"]["Grade"][];
            /** @description The candidate; evidence refers to positions in it. */
            material?: components["schemas"]["JudgeInput"];
            /** @description Fields for grouping: metadata and tags of the case, short fields of its row, and agent, model and prompt. */
            metadata?: {
                [key: string]: unknown;
            };
            /** @description Where the case is written. */
            origin?: components["schemas"]["CaseOrigin"] | null;
            /** @description Verdict of the panel. */
            panel?: components["schemas"]["PanelVerdict"] | null;
            /** @description Parts of the name; absent if the name is as it is written. */
            parts?: components["schemas"]["CaseNameParts"] | null;
            /** @description The judge calls that were projected before it was graded. */
            projected_calls?: components["schemas"]["CallRange"] | null;
            /** @description Hash of the rubric: a key of `rubrics` in the run. */
            rubric: components["schemas"]["RubricHash"];
            /** @description Of its judges, and of the agent that was run for it. */
            spend: components["schemas"]["Spend"];
            /**
             * Format: uint32
             * @description Which of several trials this is, from 1.
             */
            trial?: number | null;
            /** @description Verdict of the rubric on the candidate. */
            verdict: components["schemas"]["Verdict"];
        };
        /** @enum {string} */
        ChangeKind: "modified" | "added" | "removed" | "renamed";
        /** @description Number of questions by outcome. */
        Counts: {
            /**
             * Format: uint32
             * @description Number of questions that the grader could not decide.
             * @default 0
             */
            abstained?: number;
            /**
             * Format: uint32
             * @description Number of questions that were deferred, for example because no API key was set.
             * @default 0
             */
            deferred?: number;
            /**
             * Format: uint32
             * @description Number of questions with a grader error.
             * @default 0
             */
            failed?: number;
            /**
             * Format: uint32
             * @description Number of questions that do not apply to this candidate.
             * @default 0
             */
            not_applicable?: number;
            /**
             * Format: uint32
             * @description Number of questions with a score.
             * @default 0
             */
            scored?: number;
            /**
             * Format: uint32
             * @description Not asked because something they require is not met.
             * @default 0
             */
            unmet?: number;
        };
        /** @description Reason for the deferral. */
        Deferral: ("no_key" | "over_budget" | "sampled_out" | "waits_for_person" | "unreachable") | "not_graded";
        /** @description A quote and its position in the candidate; without a position it was not found. */
        Evidence: {
            /** @description Position of the quote in the candidate; absent if the quote was not found. */
            found?: components["schemas"]["QuoteLocation"] | null;
            /** @description Quoted text, as the grader wrote it. */
            quote: string;
        };
        FailedGate: {
            /** @description Absent for gates of the rubric itself. */
            criterion?: string | null;
            /** @description Kind of gate. */
            gate: components["schemas"]["Gate"];
        };
        /** @description Why a grader failed. */
        Failure: ("timeout" | "rate_limit" | "refusal" | "malformed" | "off_scale" | "auth" | "evidence_not_found") | "unavailable" | "crashed";
        /** @description What happened to one file. */
        FileChange: {
            /**
             * Format: uint32
             * @description Number of added lines.
             * @default 0
             */
            added?: number;
            /** @description Changed regions of the file; empty if the format does not contain them. */
            hunks?: components["schemas"]["Hunk"][];
            /**
             * @description Kind of change.
             * @default modified
             */
            kind?: components["schemas"]["ChangeKind"];
            /** @description Old path, if the file was moved. */
            old_path?: string | null;
            /**
             * @description Path of the file; for a deleted file, the path before.
             * @default
             */
            path?: string;
            /**
             * Format: uint32
             * @description Number of removed lines.
             * @default 0
             */
            removed?: number;
        };
        /** @description A condition that fails the verdict at any score. */
        Gate: ("required" | "guard" | "min_score" | "strict" | "evidence") | "cannot_assess" | "on_error";
        /**
         * @description One grader's answer to one criterion of one candidate.
         *
         *     ```
         *     use jurist_core::grade::{Grade, Outcome, Value};
         *
         *     let grade: Grade = serde_json::from_str(
         *         r#"{"candidate": "trace_042", "criterion": "correctness",
         *             "grader": {"kind": "human", "name": "ann"},
         *             "outcome": {"kind": "scored", "value": 4, "unit": 0.75}}"#,
         *     ).unwrap();
         *     assert_eq!(grade.outcome, Outcome::Scored { value: Value::Number(4.0), unit: Some(0.75) });
         *     ```
         */
        Grade: {
            /** @description Tries before this answer, oldest first. */
            attempts?: components["schemas"]["Attempt"][];
            /** @description External ids are stored unchanged. */
            candidate: string;
            /** @description Id of the question: a criterion of the rubric, or a node of a tree. */
            criterion: string;
            /** @description Quotes from the candidate that support the answer. */
            evidence?: components["schemas"]["Evidence"][];
            /** @description Warnings about the grade. */
            flags?: components["schemas"]["GradeFlag"][];
            /**
             * Format: uint32
             * @description Version of this contract.
             * @default 1
             */
            format?: number;
            /** @description Check, judge or person that answered. */
            grader: components["schemas"]["Grader"];
            /** @description Answer of the grader, or the reason for a missing answer. */
            outcome: components["schemas"]["Outcome"];
            /** @description Claims or requirements that the grade is based on. */
            points?: components["schemas"]["GradedPoint"][];
            /** @description At most [`Reason::MAX`] bytes are kept. */
            reason?: components["schemas"]["Reason"];
            /** @description The rubric this was graded against. */
            rubric?: components["schemas"]["RubricHash"] | null;
            /** @description Tokens and cost of this answer; absent if there are none. */
            spend?: components["schemas"]["Spend"];
            /** @description Time of the answer; absent if unknown. */
            time?: components["schemas"]["Time"] | null;
        };
        /** @description Something about a grade that its score does not show. */
        GradeFlag: "verdict_in_candidate" | "no_verifiable_evidence";
        /** @description A claim or a requirement, and whether it holds. */
        GradedPoint: {
            /** @description Quotes from the candidate that support this decision. */
            evidence?: components["schemas"]["Evidence"][];
            /** @description Whether the claim is supported, or the requirement is met. */
            holds: boolean;
            /** @description Text of the claim or requirement. */
            text: string;
        };
        Grader: {
            /** @description Hash of the grader's configuration: everything except the candidate that influences its answers. */
            configuration?: string | null;
            /** @description Kind of grader: a check, a judge or a human. */
            kind: components["schemas"]["GraderKind"];
            /** @description Model, check or person. */
            name: string;
        };
        /**
         * @description Who answers a criterion.
         * @enum {string}
         */
        GraderKind: "check" | "judge" | "human";
        /** @description What the guardrails of a provider said about a prompt and its answer. */
        GuardrailReport: {
            /**
             * @description Whether the prompt or the answer was flagged.
             * @default false
             */
            flagged?: boolean;
            /** @description Why, as the provider says it; empty if it does not. */
            reason?: string;
        };
        /** @description A stretch of changed lines; each keeps its first character: blank, `+` or `-`. */
        Hunk: {
            /**
             * @description Lines of the region, each with its first character: a space, `+` or `-`.
             * @default []
             */
            lines?: string[];
            /**
             * Format: uint32
             * @description First line of the region in the new file, from 1; 0 for a removed file.
             * @default 0
             */
            new_start?: number;
            /**
             * Format: uint32
             * @description First line of the region in the old file, from 1; 0 for a new file.
             * @default 0
             */
            old_start?: number;
        };
        /** @description What is graded, with the task it answers. None of it is trusted. */
        JudgeInput: {
            /** @description Other data of the case in the file; only programs that check the answer get them. */
            case_data?: components["schemas"]["CaseData"];
            /** @description Documents that the answer may rest on. */
            context?: string[];
            /** @description A unified diff. */
            diff?: string | null;
            /** @description What the guardrails of the target's provider said; absent if it has none. */
            guardrails?: components["schemas"]["GuardrailReport"] | null;
            /** @description Measurements of the run: time, tokens, cost. */
            measurements?: components["schemas"]["Measurements"];
            /** @description Further references that are as right as the first. */
            other_references?: unknown[];
            /** @description Output and reference as checks compare them, where they are more than text. */
            raw_output?: unknown;
            /** @description Reference answer as the JSON value of the case. Checks compare with this value. */
            raw_reference?: unknown;
            /** @description Reference answer, as text; absent if the case has none. */
            reference?: string | null;
            /** @description Expected tool calls, if they are not in the reference. */
            reference_calls?: unknown;
            /** @description What must be met, where the case says so and not the rubric. */
            requirements?: string[];
            /** @description Final response of the agent; absent if the candidate has only a trace or a diff. */
            response?: string | null;
            /** @description Row of the data that the case was made from; it fills `{{ row.field }}` in the rubric. Absent if there is none. */
            row?: {
                [key: string]: unknown;
            } | null;
            /** @description Task of the agent: the prompt, or the conversation as text; empty if unknown. */
            task?: string;
            /** @description Trace of the agent, with its steps; absent if the candidate has none. */
            trace?: components["schemas"]["Trace"] | null;
        };
        /** @description Time, tokens and cost of the agent, without judges. Unknown values are absent, never 0. */
        Measurements: {
            /** @description Cost of all model calls of the agent, in US dollars. */
            cost?: components["schemas"]["Usd"] | null;
            /**
             * Format: double
             * @description Wall time.
             */
            duration_ms?: number | null;
            /**
             * Format: double
             * @description Mean natural logarithm of the probabilities of the answer's tokens, if the model returned it.
             */
            mean_log_probability?: number | null;
            /** @description Tokens of all model calls of the agent. */
            usage?: components["schemas"]["Usage"] | null;
        };
        /** @description Number of ungraded cases. */
        NotGraded: {
            /**
             * Format: uint
             * @description Number of all cases of the run.
             */
            n_cases: number;
            /**
             * Format: uint
             * @description Number of cases that were not graded.
             */
            n_not_graded: number;
            /** @description The most frequent first. */
            reasons: components["schemas"]["NotGradedReason"][];
            /** @description In words, with the most frequent reason and what to do about it. */
            statement: string;
        };
        /** @description Why some cases were not graded. */
        NotGradedReason: {
            /**
             * Format: uint
             * @description Number of cases with this reason.
             */
            n_cases: number;
            /** @description Reason in words, for people. */
            reason: string;
            /** @description Next step that would get them graded. */
            remedy: string;
            /** @description Reason as a fixed code, for programs. */
            why: components["schemas"]["Deferral"];
        };
        /** @description Outcome of the question. Only `scored` counts in the score. */
        Outcome: {
            /**
             * @description Always `scored` in this variant of `Outcome`.
             * @constant
             */
            kind: "scored";
            /**
             * Format: double
             * @description The same on 0..=1; absent for a choice that only leads on in a tree.
             */
            unit?: number | null;
            /** @description Answer on the criterion's own scale. */
            value: components["schemas"]["Value"];
        } | {
            /**
             * @description Always `not_applicable` in this variant of `Outcome`.
             * @constant
             */
            kind: "not_applicable";
        } | {
            /**
             * @description Always `abstained` in this variant of `Outcome`.
             * @constant
             */
            kind: "abstained";
            /** @description Reason for the missing decision, in words. */
            why: string;
        } | {
            /**
             * @description Error message; empty if there is none.
             * @default
             */
            detail?: string;
            /** @description Kind of error. */
            failure: components["schemas"]["Failure"];
            /**
             * @description Always `failed` in this variant of `Outcome`.
             * @constant
             */
            kind: "failed";
        } | {
            /**
             * @description Always `deferred` in this variant of `Outcome`.
             * @constant
             */
            kind: "deferred";
            /** @description Reason for the missing answer. */
            why: components["schemas"]["Deferral"];
        };
        /** @description Verdict of a panel on one candidate. */
        PanelVerdict: {
            /**
             * Format: double
             * @description Share of pairs of voters that agree on pass or fail; absent with fewer than two.
             */
            agreement?: number | null;
            /**
             * Format: uint32
             * @description Voters with a failed gate.
             */
            gated: number;
            /**
             * Format: double
             * @description The median, if it is compared with the pass mark in place of the mean.
             */
            median?: number | null;
            /**
             * Format: uint32
             * @description Number of members of the panel.
             */
            members: number;
            /**
             * Format: double
             * @description The mean of the members' scores in the scale's own units, where all of them have one.
             */
            native?: number | null;
            /**
             * Format: uint32
             * @description Number of voters whose verdict is a pass.
             */
            passes: number;
            /**
             * Format: double
             * @description The mean of the members' scores.
             */
            score?: number | null;
            /** @description Result of the panel for this candidate. */
            status: components["schemas"]["VerdictStatus"];
            /** @description Gates that members could not decide, where that leaves the panel without a verdict. */
            undecided_gates?: components["schemas"]["UndecidedGate"][];
            /**
             * Format: uint32
             * @description Members that came to a verdict; the others abstained.
             */
            voters: number;
            /** @description Why it does not pass. */
            why?: string | null;
        };
        /** @description A stretch of bytes in one part of a candidate, such as `response` or `trace.3.result`. */
        QuoteLocation: {
            /**
             * Format: uint64
             * @description Offset after the last byte of the quote in this part.
             */
            end: number;
            /** @description Part of the candidate, such as `response` or `trace.3.result.1`. */
            in: string;
            /**
             * Format: uint64
             * @description Offset of the first byte of the quote in this part, from 0.
             */
            start: number;
        };
        /** @description A grader's reason, shortened to the stored length. */
        Reason: string;
        /** @description What got worse since another run, case by case. */
        Regressions: {
            /** @description Cases whose trials differ within one of the runs; they are counted nowhere else. */
            flaky: string[];
            /** @description Cases that fail and that the earlier run does not have; they are no regressions. */
            new_failures?: string[];
            /** @description Cases that passed and now fail. */
            regressed: components["schemas"]["StatusChange"][];
            /** @description Cases that failed and still fail; they are no regressions either. */
            still_failing?: string[];
            /** @description Cases that passed before and have no verdict now, so that a regression is possible. */
            undecided: components["schemas"]["UndecidedCase"][];
        };
        /** @description The hash of a rubric's canonical form; a grade always names the one it was made against. */
        RubricHash: string;
        RunId: string;
        /** @description What is known about the origin of a run. Nothing is required: a run in a plain folder has none of it. */
        RunProvenance: {
            /** @description The person who started the CI job, or the author of the commit. */
            author?: string | null;
            /** @description Name of the Git branch; absent if unknown. */
            branch?: string | null;
            /** @description The page of the CI job that made the run. */
            ci_url?: string | null;
            /** @description The full hash of the commit. */
            commit?: string | null;
            /** @description The names that `--run-tag` gives to a run. */
            tags?: string[];
        };
        /** @description Summary of the results of a run. */
        RunSummary: {
            /**
             * Format: uint
             * @description Number of results with status `deferred`.
             */
            deferred: number;
            /**
             * Format: uint
             * @description Number of results with status `error`.
             */
            errors: number;
            /**
             * Format: uint
             * @description Number of results with status `fail`.
             */
            failed: number;
            /** @description Absent where every case was graded. */
            not_graded?: components["schemas"]["NotGraded"] | null;
            /**
             * Format: uint
             * @description Number of results with status `pass`. Each trial of a case is one result.
             */
            passed: number;
            /** @description Judge calls that were projected before the run began. */
            projected_calls?: components["schemas"]["CallRange"] | null;
            /** @description Against the run that this one was compared with. */
            regressions?: components["schemas"]["Regressions"] | null;
        };
        /** @description What an answer cost. */
        Spend: {
            /** @description Cost in US dollars; absent if unknown. */
            cost?: components["schemas"]["Usd"] | null;
            /**
             * @description Taken from Jurist's own cache: nothing was sent and nothing was paid.
             * @default false
             */
            from_cache?: boolean;
            /**
             * Format: uint64
             * @description Part of `tokens_in` that a provider had cached.
             * @default 0
             */
            tokens_cached?: number;
            /**
             * Format: uint64
             * @description Number of input tokens, including cached tokens, as reported by the model's API.
             * @default 0
             */
            tokens_in?: number;
            /**
             * Format: uint64
             * @description Number of output tokens, as reported by the model's API.
             * @default 0
             */
            tokens_out?: number;
        };
        /** @description A verdict that is another one now. */
        StatusChange: {
            /** @description Status in this run. */
            after: components["schemas"]["VerdictStatus"];
            /** @description Status in the earlier run. */
            before: components["schemas"]["VerdictStatus"];
            /** @description Name of the case. */
            case: string;
            /**
             * Format: double
             * @description Score in this run, as the mean over trials; absent if there is none.
             */
            score_after?: number | null;
            /**
             * Format: double
             * @description Score in the earlier run, as the mean over trials; absent if there is none.
             */
            score_before?: number | null;
        };
        StepRole: ("system" | "user" | "assistant" | "other") | "tool";
        /**
         * Format: date-time
         * @description RFC 3339, in UTC.
         */
        Time: string;
        ToolCall: {
            /**
             * @description Arguments of the call, by name. A value that is not an object is stored under `input`.
             * @default {}
             */
            arguments?: {
                [key: string]: unknown;
            };
            /**
             * Format: double
             * @description Duration, if the format has it.
             */
            duration_ms?: number | null;
            /** @description Id of the call, which its result repeats; absent if the format has none. */
            id?: string | null;
            /**
             * @description Name of the tool.
             * @default
             */
            name?: string;
        };
        ToolResult: {
            /** @description The id of the call it answers. */
            call?: string | null;
            /** @description Whether the tool call failed. */
            error?: boolean;
            /** @description Name of the tool; absent if the format has none. */
            name?: string | null;
            /**
             * @description Output of the tool, as text.
             * @default
             */
            text?: string;
        };
        /**
         * @description A run of an agent, step by step.
         *
         *     ```
         *     use jurist_core::candidate::{TraceFormat, read_trace};
         *
         *     let text = r#"[{"role": "assistant", "content": null,
         *         "tool_calls": [{"id": "c1", "function": {"name": "search", "arguments": "{\"q\": \"cat\"}"}}]}]"#;
         *     let (format, trace) = read_trace(text, None).unwrap();
         *     assert_eq!(format, TraceFormat::OpenaiChat);
         *     assert_eq!(trace.tool_calls().next().unwrap().arguments["q"], "cat");
         *     ```
         */
        Trace: {
            /** @description Cost of the run in US dollars; absent if unknown. */
            cost?: components["schemas"]["Usd"] | null;
            /**
             * Format: double
             * @description From its beginning to its end, where the format says so.
             */
            duration_ms?: number | null;
            /** @description Files that the run changed, if the format lists them for the whole run. */
            files?: components["schemas"]["FileChange"][];
            /** @description Id of the trace, as the framework assigned it; absent if the format has none. */
            id?: string | null;
            /** @description Names of graph nodes in the order they ran. */
            nodes?: string[];
            /** @description Status at the end, as the framework names it. */
            status?: string | null;
            /**
             * @description Messages, turns and actions, in the order in which they happened.
             * @default []
             */
            steps?: components["schemas"]["TraceStep"][];
            /** @description Task of the agent, if the format has it outside the messages. */
            task?: string | null;
            /** @description Tokens of all model calls of the run; absent if unknown. */
            usage?: components["schemas"]["Usage"];
        };
        /** @description One message, turn or action. */
        TraceStep: {
            /** @description Which agent, where there are several. */
            agent?: string | null;
            /** @description What the model call of this step cost, where the format says so. */
            cost?: components["schemas"]["Usd"] | null;
            /**
             * Format: uint32
             * @description How many agents deep; a sub-agent's steps follow the step that started it.
             */
            depth?: number;
            /**
             * Format: double
             * @description How long it took, where the format says so: the model call of a message, the run of a tool.
             */
            duration_ms?: number | null;
            /** @description Files that this step changed. */
            files?: components["schemas"]["FileChange"][];
            /** @description Reasoning of the agent that is not part of a message. */
            reasoning?: string;
            /** @description Results of tool calls. */
            results?: components["schemas"]["ToolResult"][];
            /**
             * @description Author of the step. The agent is `assistant`.
             * @default assistant
             */
            role?: components["schemas"]["StepRole"];
            /** @description Path or address of a picture. */
            screenshot?: string | null;
            /** @description Text of the message; empty if the step has none. */
            text?: string;
            /** @description Time of the message, or start of the model call; absent if unknown. */
            time?: components["schemas"]["Time"] | null;
            /** @description Tool calls that the agent made in this step. */
            tool_calls?: components["schemas"]["ToolCall"][];
            /** @description Tokens of the model call of this step; absent if unknown. */
            usage?: components["schemas"]["Usage"];
        };
        /** @description One answered node on the way through a tree. */
        TreePathStep: {
            /** @description Answer to the question of this node. */
            answer: string;
            /** @description The question's id, as grades name it. */
            node: string;
            /** @description At the last node: the reason that the rubric states for the score; absent if the rubric states none. */
            reason?: string | null;
            /**
             * Format: double
             * @description At the last node: the authored score, and why.
             */
            score?: number | null;
        };
        /** @description A case that passed and has no verdict now. */
        UndecidedCase: {
            /** @description Absent where the case is missing. */
            after?: components["schemas"]["VerdictStatus"] | null;
            /** @description Name of the case. */
            case: string;
        };
        /** @description An undecided gate: its grader abstained, failed or was not asked. */
        UndecidedGate: {
            /** @description Absent for gates of the rubric itself. */
            criterion?: string | null;
            /** @description Kind of gate. */
            gate: components["schemas"]["Gate"];
            /** @description Reason for the missing decision, in words. */
            reason: string;
        };
        /** @description Tokens, each counted once. */
        Usage: {
            /**
             * Format: uint64
             * @description Part of `input` that the provider had cached.
             * @default 0
             */
            cached?: number;
            /**
             * Format: uint64
             * @description Number of input tokens, including cached tokens.
             * @default 0
             */
            input?: number;
            /**
             * Format: uint64
             * @description Number of output tokens.
             * @default 0
             */
            output?: number;
        };
        /** @description US dollars, exact to a billionth. */
        Usd: number;
        /** @description An answer on a criterion's own scale. */
        Value: boolean | number | string;
        /** @description Verdict of a rubric on one candidate. */
        Verdict: {
            /** @description Number of questions by outcome. */
            counts: components["schemas"]["Counts"];
            /** @description Failed gates. A verdict with a failed gate never passes. */
            failed_gates?: components["schemas"]["FailedGate"][];
            /**
             * Format: double
             * @description The weighted mean in the scale's own units, where all criteria share one.
             */
            native?: number | null;
            /** @description The way through the rubric's trees. */
            path?: components["schemas"]["TreePathStep"][];
            /**
             * Format: double
             * @description On 0..=1; absent if no score can be computed.
             */
            score?: number | null;
            /** @description Result of the rubric for this candidate. */
            status: components["schemas"]["VerdictStatus"];
            /** @description Undecided gates. A verdict with an undecided gate never passes. */
            undecided_gates?: components["schemas"]["UndecidedGate"][];
            /** @description A pass because no criterion applied. */
            vacuous?: boolean;
        };
        VerdictStatus: ("pass" | "fail") | "error" | "deferred";
        /**
         * Run
         * @description A run with everything needed to report on it again.
         */
        Run: {
            /** @description End of the run; absent if the run is not finished. */
            ended?: components["schemas"]["Time"] | null;
            /**
             * Format: uint32
             * @description Version of this contract.
             */
            format: number;
            /** @description Id of the run: `run_` and a UUIDv7 without hyphens. */
            id: components["schemas"]["RunId"];
            /** @description Branch, commit, author, tags and CI job, as far as they are known. */
            provenance?: components["schemas"]["RunProvenance"];
            /** @description In the order of the plan. */
            results: components["schemas"]["CaseResult"][];
            /** @description The canonical form of every rubric used, by version. */
            rubrics: {
                [key: string]: unknown;
            };
            /**
             * Format: uint64
             * @description The same plan, replies and seed give the same run.
             */
            seed: number;
            /** @description Tokens and cost of all cases: their judges and the agents that were run. */
            spend: components["schemas"]["Spend"];
            /** @description Start of the run. */
            started: components["schemas"]["Time"];
            /** @description Name of the suite; absent if unknown. */
            suite?: string | null;
            /** @description Summary for readers of the file; Jurist computes it again from the results. */
            summary?: components["schemas"]["RunSummary"] | null;
        };
        AnnotationSettings: {
            /**
             * Format: uint32
             * @description Number of annotators per item; if absent, every annotator answers every item.
             */
            annotators_per_item?: number | null;
            /** @description Attention checks: items that every attentive reader answers correctly, mixed in unmarked. */
            attention?: components["schemas"]["ItemAnswerKey"][];
            /**
             * @description Whether annotators may edit submitted items.
             * @default true
             */
            back_navigation?: boolean;
            /**
             * @description Blinding: annotators see answers of other people and of judges only after their own.
             * @default true
             */
            blind?: boolean;
            /**
             * Format: uint32
             * @description Number of items between two attention or gold items.
             * @default 10
             */
            check_every?: number;
            /** @description Code that annotators see at the end and enter on the crowd platform that sent them. */
            completion_code?: string | null;
            /**
             * @description Whether people may join by an id in the address, as from crowd platforms.
             * @default false
             */
            crowd?: boolean;
            /** @description Annotators whose answers are stored and not used: not in disputes, agreement, results and labels. */
            excluded?: components["schemas"]["ExcludedAnnotator"][];
            /** @description Items with known answers, mixed in unmarked. */
            gold?: components["schemas"]["ItemAnswerKey"][];
            /**
             * Format: double
             * @description Minimum time per item.
             */
            min_seconds?: number | null;
            /**
             * @description Order in which an annotator gets items.
             * @default balanced
             */
            order?: components["schemas"]["AssignmentOrder"];
            /**
             * Format: double
             * @description Overlap sample: the share of items that several people answer. One person answers each other item.
             */
            overlap?: number | null;
            /**
             * Format: uint32
             * @description Annotators per item of the overlap sample; 2 by default.
             */
            overlap_annotators?: number | null;
            /**
             * Format: uint32
             * @description Maximum number of items per annotator.
             */
            quota?: number | null;
            /**
             * @description Whether annotators see the descriptions of criteria.
             * @default true
             */
            shows_descriptions?: boolean;
            /**
             * @description Whether annotators see the weighted score during annotation.
             * @default false
             */
            shows_score?: boolean;
            /**
             * Format: uint32
             * @description After this time without activity, the item is assigned to another annotator.
             * @default 60
             */
            stale_minutes?: number;
            /** @description Items that every annotator answers first. The correct answers are shown after submission. */
            training?: components["schemas"]["ItemAnswerKey"][];
        };
        Answer: {
            /**
             * @description Ratings, by the name of the criterion.
             * @default {}
             */
            criteria?: {
                [key: string]: components["schemas"]["Rated"];
            };
            /**
             * @description Always `rubric` in this variant of `Answer`.
             * @constant
             */
            kind: "rubric";
            /** @description Notes of the annotator; absent if there are none. */
            notes?: string | null;
            /** @description Overall rating; absent if unanswered or not asked. */
            overall?: components["schemas"]["Rated"] | null;
        } | {
            /**
             * @description Always `trajectory` in this variant of `Answer`.
             * @constant
             */
            kind: "trajectory";
            /**
             * @description By their number, from 1.
             * @default {}
             */
            steps?: {
                [key: string]: components["schemas"]["Marked"];
            };
        } | {
            /**
             * @description Always `pairwise` in this variant of `Answer`.
             * @constant
             */
            kind: "pairwise";
            /** @description Label of the better candidate, or `tie_label` of the scheme; absent if unanswered. */
            label?: string | null;
        } | {
            /**
             * @description Always `choice` in this variant of `Answer`.
             * @constant
             */
            kind: "choice";
            /**
             * @description Selected labels; empty if none is selected.
             * @default []
             */
            labels?: string[];
        } | {
            /**
             * @description Always `likert` in this variant of `Answer`.
             * @constant
             */
            kind: "likert";
            /**
             * Format: uint32
             * @description Selected point, from 1; absent if unanswered.
             */
            value?: number | null;
        } | {
            /**
             * @description Always `slider` in this variant of `Answer`.
             * @constant
             */
            kind: "slider";
            /**
             * Format: int64
             * @description Selected number; absent if unanswered.
             */
            value?: number | null;
        } | {
            /**
             * @description Always `text` in this variant of `Answer`.
             * @constant
             */
            kind: "text";
            /**
             * @description Text of the answer; empty if unanswered.
             * @default
             */
            text?: string;
        } | {
            /**
             * @description By the id of the claim.
             * @default {}
             */
            claims?: {
                [key: string]: components["schemas"]["Verified"];
            };
            /**
             * @description Always `verify` in this variant of `Answer`.
             * @constant
             */
            kind: "verify";
        };
        /** @description A condition on the answer to another question. */
        AnswerCondition: {
            /** @description The name of the other question. */
            question: string;
        } & ({
            /** @description Whether upper and lower case differ. */
            case_sensitive?: boolean;
            /**
             * @description Always `is` in this variant of `AnswerCondition`.
             * @constant
             */
            test: "is";
            /** @description Labels or numbers, written as texts. The condition holds if the answer is one of them. */
            values: string[];
        } | {
            /** @description Whether upper and lower case differ. */
            case_sensitive?: boolean;
            /**
             * @description Always `is_not` in this variant of `AnswerCondition`.
             * @constant
             */
            test: "is_not";
            /** @description Labels or numbers, written as texts. The condition holds if the answer is none of them. */
            values: string[];
        } | {
            /**
             * Format: double
             * @description Upper limit, which counts as inside; absent if there is none.
             */
            max?: number | null;
            /**
             * Format: double
             * @description Lower limit, which counts as inside; absent if there is none.
             */
            min?: number | null;
            /**
             * @description Always `between` in this variant of `AnswerCondition`.
             * @constant
             */
            test: "between";
        } | {
            /**
             * Format: double
             * @description Upper limit: the condition holds for numbers above; absent if there is none.
             */
            max?: number | null;
            /**
             * Format: double
             * @description Lower limit: the condition holds for numbers below; absent if there is none.
             */
            min?: number | null;
            /**
             * @description Always `outside` in this variant of `AnswerCondition`.
             * @constant
             */
            test: "outside";
        } | {
            /**
             * @description Always `answered` in this variant of `AnswerCondition`.
             * @constant
             */
            test: "answered";
        } | {
            /**
             * @description Always `unanswered` in this variant of `AnswerCondition`.
             * @constant
             */
            test: "unanswered";
        });
        /** @description Smallest and largest number of labels or characters in an answer. */
        AnswerLimits: {
            /**
             * Format: uint32
             * @description Largest number; absent if there is no upper limit.
             */
            max?: number | null;
            /**
             * Format: uint32
             * @description Smallest number; absent if there is no lower limit.
             */
            min?: number | null;
        };
        /** @description Order in which an annotator gets items. */
        AssignmentOrder: "balanced" | "fixed" | "random";
        /** @description One answer of a judge: to a criterion, a branch of a tree, a claim or a requirement. */
        Claim: {
            /** @description Id of the question, as in grades. */
            criterion: string;
            /** @description Quotes from the candidate that the judge gave as evidence. */
            evidence?: components["schemas"]["Quote"][];
            /** @description Whether it is computed from its parts: the share of parts that hold. It then has no separate answer. */
            from_parts?: boolean;
            /** @description Id of the claim: the id of the question, followed by `#` and a number for one of its parts. */
            id: string;
            /** @description Title of the criterion, question of the tree, or text of the claim or requirement. */
            label: string;
            /** @description In a tree: the claim that each answer leads to, by the answer. */
            leads?: {
                [key: string]: string;
            };
            /** @description The scale, lowest first. */
            points?: components["schemas"]["ScalePoint"][];
            /** @description Reason that the judge gave; absent if there is none. */
            reason?: string | null;
            /** @description Absent if the judge did not get this question, because another branch of the tree leads to it. */
            said?: components["schemas"]["Rating"] | null;
            /** @description Description of the criterion; absent if there is none. */
            text?: string | null;
        };
        /** @description One of the compared candidates. */
        Compared: {
            /** @description Name in answers, independent of its position on the page. */
            label: string;
            /** @description Text of the candidate; absent if the candidate is a trace. */
            text?: string | null;
            /** @description Trace of the candidate; absent if the candidate is a text. */
            trace?: components["schemas"]["Trace"] | null;
        };
        Criterion: {
            /** @description Question or requirement for the annotator; absent if the label already contains it. */
            description?: string | null;
            /** @description Title of the criterion on the page. */
            label: string;
            /** @description Whether annotators may answer "not applicable" or "cannot tell". */
            may_skip: boolean;
            /** @description Id of the question, as in grades. */
            name: string;
            /** @description The scale, lowest first. */
            points: components["schemas"]["ScalePoint"][];
            /**
             * Format: double
             * @description Weight in the weighted score.
             */
            weight: number;
        };
        ErrorCategory: {
            /** @description Name of the category. */
            category: string;
            /** @description Types of errors in the category. If empty, annotators choose the category itself. */
            types: string[];
        };
        /** @description An annotator whose answers are not used. */
        ExcludedAnnotator: {
            /** @description Id of the annotator's account. */
            account: string;
            /** @description Why the answers are not used; absent if no reason was given. */
            reason?: string | null;
        };
        /** @description Correct answers by criterion or step, or one answer if the scheme has one question. */
        ExpectedAnswer: components["schemas"]["Value"] | string[] | {
            [key: string]: components["schemas"]["Value"];
        };
        /** @description A text that an answer is compared with. */
        Given: {
            /** @description Role of the text, such as `context` or `reference`. */
            kind: components["schemas"]["GivenKind"];
            /** @description Text that the judge got. */
            text: string;
        };
        GivenKind: "context" | "reference" | "requirement" | "diff";
        /** @description One item for one annotator. Markup in it is plain text. */
        Item: {
            /** @description For comparisons: as many as the scheme has labels, in the order they are shown in. */
            candidates?: components["schemas"]["Compared"][];
            /** @description Fields of the row that the task shows, in its order. */
            fields?: components["schemas"]["ItemField"][];
            /** @description Other input of the judge, needed to verify its answers. */
            given?: components["schemas"]["Given"][];
            /** @description Id of the item in the store. */
            id: string;
            /** @description Words that the page marks in the texts of the item. */
            keywords?: components["schemas"]["Keyword"][];
            /** @description Whether the fields are shown side by side. */
            side_by_side?: boolean;
            /** @description What an agent was asked. */
            task?: string | null;
            /** @description Text to annotate, such as a response; absent if the item has none. */
            text?: string | null;
            /** @description Trace of the agent, with its steps; absent if the item has none. */
            trace?: components["schemas"]["Trace"] | null;
            /** @description Whether the correct answers are shown after submission. */
            training?: boolean;
        };
        /** @description An item with known answers. */
        ItemAnswerKey: {
            /** @description By scheme; answers that are not listed are ignored. */
            answers: {
                [key: string]: components["schemas"]["ExpectedAnswer"];
            };
            /** @description The id that the data gives it. */
            item: string;
            /**
             * Format: double
             * @description Tolerance for numbers.
             */
            tolerance?: number | null;
            /** @description Shown after training items. */
            why?: string | null;
        };
        /** @description One field of a row, as it is shown. */
        ItemField: {
            /** @description Name of the field in the data of the task. */
            key: string;
            /** @description Heading of the field on the page. */
            label: string;
            /** @description Value of the field as text; lists and objects are written as JSON. */
            text: string;
        };
        /** @description A word or phrase that is marked in the texts of items. */
        Keyword: {
            /** @description What the word stands for; absent if there is no label. */
            label?: string | null;
            /** @description Word or phrase, found as whole words in any case. `*` stands for further letters and digits. */
            word: string;
        };
        /** @description The annotation of one step. */
        Marked: {
            /** @description Error of the step: a type, a category, or `category::type`; absent for correct steps. */
            error?: string | null;
            /** @description Mark of the step: one of `marks` of the scheme; absent if unanswered. */
            mark?: string | null;
            /** @description Explanation of the mark; absent if there is none. */
            rationale?: string | null;
            /** @description Name of the severity level; absent for correct steps, or if the annotator chose none. */
            severity?: string | null;
        };
        NotesField: {
            /** @description Label of the text field. */
            label: string;
            /** @description Hint in the empty text field; absent if there is none. */
            placeholder?: string | null;
        };
        /** @description A quote from the item, with its position in bytes. */
        Quote: {
            /**
             * Format: uint64
             * @description Offset after the last byte of the quote in its part; absent if the position is unknown.
             */
            end?: number | null;
            /** @description Such as `trace.3.result.1`. */
            part?: string | null;
            /** @description Quoted text. */
            quote: string;
            /**
             * Format: uint64
             * @description Offset of the first byte of the quote in its part, from 0; absent if the position is unknown.
             */
            start?: number | null;
        };
        /** @description The annotation of one criterion; without a rating it is unanswered. */
        Rated: {
            /** @description Comment of the annotator; absent if there is none. */
            comment?: string | null;
            /** @description Quotes from the item that the annotator selected as evidence. */
            evidence?: components["schemas"]["Quote"][];
            /** @description Rating of the criterion; absent if unanswered. */
            rating?: components["schemas"]["Rating"] | null;
        };
        Rating: {
            /**
             * @description Always `scored` in this variant of `Rating`.
             * @constant
             */
            kind: "scored";
            /** @description Value of a point on the criterion's scale. */
            value: components["schemas"]["Value"];
        } | {
            /**
             * @description Always `not_applicable` in this variant of `Rating`.
             * @constant
             */
            kind: "not_applicable";
        } | {
            /**
             * @description Always `abstained` in this variant of `Rating`.
             * @constant
             */
            kind: "abstained";
        };
        /** @description One answer of a scale. */
        ScalePoint: {
            /** @description Label of the point, shared by all criteria, such as Good. */
            label?: string | null;
            /** @description What it means for this criterion. */
            text?: string | null;
            /**
             * Format: double
             * @description Value on 0..=1; absent for an answer that only leads to another node of a tree.
             */
            unit?: number | null;
            /** @description Value that an answer with this point has. */
            value: components["schemas"]["Value"];
        };
        /** @description One question, or several that belong together. */
        Scheme: {
            /** @description Question or instruction for the annotator. If absent, the page shows the name. */
            description?: string | null;
            /** @description Name of the scheme. Answers and conditions refer to this name. */
            name: string;
            /** @description Whether it must be answered before anything is submitted. */
            required: boolean;
            /** @description When it is asked; always by default. */
            shown_when?: components["schemas"]["ShowCondition"] | null;
        } & ({
            /** @description Criteria to rate, in the order of the page. */
            criteria: components["schemas"]["Criterion"][];
            /**
             * @description Always `rubric` in this variant of `Scheme`.
             * @constant
             */
            kind: "rubric";
            /** @description Text field for notes; absent if the scheme has none. */
            notes?: components["schemas"]["NotesField"] | null;
            /** @description Overall rating; optional and not part of the weighted score. */
            overall?: components["schemas"]["Criterion"] | null;
            /** @description Whether annotators see the weighted score during annotation. */
            shows_score: boolean;
        } | {
            /** @description Error categories for steps that are not correct; empty if annotators do not choose one. */
            errors: components["schemas"]["ErrorCategory"][];
            /**
             * Format: double
             * @description Start value of the running score.
             */
            initial: number;
            /**
             * @description Always `trajectory` in this variant of `Scheme`.
             * @constant
             */
            kind: "trajectory";
            /** @description The first one means correct. */
            marks: string[];
            /** @description Severity levels for steps that are not correct; empty if annotators do not choose one. */
            severities: components["schemas"]["SeverityLevel"][];
            /** @description Which steps are marked, from 1. */
            steps: number[];
        } | {
            /**
             * @description Always `pairwise` in this variant of `Scheme`.
             * @constant
             */
            kind: "pairwise";
            /** @description Labels of the candidates, in the order of the data. */
            labels: string[];
            /** @description Label of the answer for a tie; absent if ties are not allowed. */
            tie_label?: string | null;
        } | {
            /** @description Whether the labels are shown as a drop-down list. Ignored if `many` is true. */
            dropdown: boolean;
            /**
             * @description Always `choice` in this variant of `Scheme`.
             * @constant
             */
            kind: "choice";
            /** @description Possible answers, in the order of the page. */
            labels: string[];
            /** @description Number of labels that may be selected; absent if any number may be. */
            limits?: components["schemas"]["AnswerLimits"];
            /** @description Whether annotators may select more than one label. */
            many: boolean;
        } | {
            /**
             * @description Always `likert` in this variant of `Scheme`.
             * @constant
             */
            kind: "likert";
            /** @description Text next to the highest point; absent if there is none. */
            max_label?: string | null;
            /** @description Text next to the lowest point; absent if there is none. */
            min_label?: string | null;
            /**
             * Format: uint32
             * @description Number of points. Answers are whole numbers from 1 to this number.
             */
            size: number;
        } | {
            /**
             * @description Always `slider` in this variant of `Scheme`.
             * @constant
             */
            kind: "slider";
            /**
             * Format: int64
             * @description Upper limit of the answers.
             */
            max: number;
            /** @description Text next to the upper end; absent if there is none. */
            max_label?: string | null;
            /**
             * Format: int64
             * @description Lowest possible answer.
             */
            min: number;
            /** @description Text next to the lower end; absent if there is none. */
            min_label?: string | null;
            /**
             * Format: int64
             * @description Position of the handle before it is moved.
             */
            start?: number | null;
            /**
             * Format: uint32
             * @description Difference between two neighbouring answers.
             */
            step: number;
        } | {
            /**
             * @description Always `text` in this variant of `Scheme`.
             * @constant
             */
            kind: "text";
            /** @description Number of characters, without white space at both ends; absent if any number is allowed. */
            limits?: components["schemas"]["AnswerLimits"];
            /** @description Whether the text field has more than one line. */
            multiline: boolean;
            /** @description Hint in the empty text field; absent if there is none. */
            placeholder?: string | null;
        } | {
            /** @description Answers of the judge, in the order of the rubric. */
            claims: components["schemas"]["Claim"][];
            /**
             * @description Always `verify` in this variant of `Scheme`.
             * @constant
             */
            kind: "verify";
        });
        SeverityLevel: {
            /** @description Name of the level, such as `minor`. */
            name: string;
            /**
             * Format: double
             * @description Its absolute value is subtracted from the running score.
             */
            weight: number;
        };
        /** @description Conditions on answers to other questions; if they do not hold, the question is not shown. */
        ShowCondition: {
            /** @description Whether one of the conditions is enough. */
            any?: boolean;
            /** @description Conditions on other answers. All of them must hold, or one of them if `any` is true. */
            conditions: components["schemas"]["AnswerCondition"][];
        };
        /** @enum {string} */
        Verification: "confirmed" | "corrected";
        /** @description The annotation of a judge's answer. */
        Verified: {
            /** @description Comment of the annotator; absent if there is none. */
            comment?: string | null;
            /** @description The corrected answer. */
            rating?: components["schemas"]["Rating"] | null;
            /** @description Whether the annotator confirmed or corrected the answer; absent if unanswered. */
            verdict?: components["schemas"]["Verification"] | null;
        };
        /**
         * Form
         * @description An annotation form: the root type of its JSON Schema.
         */
        Form: {
            /** @description Answers that are already entered, by the name of the scheme. */
            draft: {
                [key: string]: components["schemas"]["Answer"];
            };
            /** @description Item to annotate. */
            item: components["schemas"]["Item"];
            /** @description Questions about the item, in the order of the page. */
            schemes: components["schemas"]["Scheme"][];
            /** @description Settings of the annotation task. */
            settings: components["schemas"]["AnnotationSettings"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
