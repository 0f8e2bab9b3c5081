// Generated from schemas/run.schema.json and schemas/annotation.schema.json by scripts/types.mjs; do not edit.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description One try that did not give an answer. */
        Attempt: {
            /** @default  */
            detail?: string;
            failure: components["schemas"]["Failure"];
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
            metadata?: {
                [key: string]: unknown;
            };
            vars?: {
                [key: string]: unknown;
            };
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
        };
        /** @description Result of one case. */
        CaseResult: {
            candidate: string;
            case: string;
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
            /** @description The judge calls that were projected before it was graded. */
            projected_calls?: components["schemas"]["CallRange"] | null;
            rubric: components["schemas"]["RubricHash"];
            /** @description Of its judges, and of the agent that was run for it. */
            spend: components["schemas"]["Spend"];
            /**
             * Format: uint32
             * @description Which of several trials this is, from 1.
             */
            trial?: number | null;
            verdict: components["schemas"]["Verdict"];
        };
        /** @enum {string} */
        ChangeKind: "modified" | "added" | "removed" | "renamed";
        /** @description Number of questions by outcome. */
        Counts: {
            /**
             * Format: uint32
             * @default 0
             */
            abstained?: number;
            /**
             * Format: uint32
             * @default 0
             */
            deferred?: number;
            /**
             * Format: uint32
             * @default 0
             */
            failed?: number;
            /**
             * Format: uint32
             * @default 0
             */
            not_applicable?: number;
            /**
             * Format: uint32
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
            found?: components["schemas"]["QuoteLocation"] | null;
            quote: string;
        };
        FailedGate: {
            /** @description Absent for gates of the rubric itself. */
            criterion?: string | null;
            gate: components["schemas"]["Gate"];
        };
        /** @description Why a grader failed. */
        Failure: ("timeout" | "rate_limit" | "refusal" | "malformed" | "off_scale" | "auth" | "evidence_not_found") | "unavailable" | "crashed";
        /** @description What happened to one file. */
        FileChange: {
            /**
             * Format: uint32
             * @default 0
             */
            added?: number;
            hunks?: components["schemas"]["Hunk"][];
            /** @default modified */
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
            criterion: string;
            evidence?: components["schemas"]["Evidence"][];
            /** @description Warnings about the grade. */
            flags?: components["schemas"]["GradeFlag"][];
            /**
             * Format: uint32
             * @description Version of this contract.
             * @default 1
             */
            format?: number;
            grader: components["schemas"]["Grader"];
            outcome: components["schemas"]["Outcome"];
            /** @description Claims or requirements that the grade is based on. */
            points?: components["schemas"]["GradedPoint"][];
            /** @description At most [`Reason::MAX`] bytes are kept. */
            reason?: components["schemas"]["Reason"];
            /** @description The rubric this was graded against. */
            rubric?: components["schemas"]["RubricHash"] | null;
            spend?: components["schemas"]["Spend"];
            time?: components["schemas"]["Time"] | null;
        };
        /** @description Something about a grade that its score does not show. */
        GradeFlag: "verdict_in_candidate" | "no_verifiable_evidence";
        /** @description A claim or a requirement, and whether it holds. */
        GradedPoint: {
            evidence?: components["schemas"]["Evidence"][];
            holds: boolean;
            text: string;
        };
        Grader: {
            /** @description Hash of the grader's configuration: everything except the candidate that influences its answers. */
            configuration?: string | null;
            kind: components["schemas"]["GraderKind"];
            /** @description Model, check or person. */
            name: string;
        };
        /**
         * @description Who answers a criterion.
         * @enum {string}
         */
        GraderKind: "check" | "judge" | "human";
        /** @description A stretch of changed lines; each keeps its first character: blank, `+` or `-`. */
        Hunk: {
            /** @default [] */
            lines?: string[];
            /**
             * Format: uint32
             * @default 0
             */
            new_start?: number;
            /**
             * Format: uint32
             * @default 0
             */
            old_start?: number;
        };
        /** @description What is graded, with the task it answers. None of it is trusted. */
        JudgeInput: {
            /** @description What the file says about the case besides; only programs that check the answer get it. */
            case_data?: components["schemas"]["CaseData"];
            /** @description Documents that the answer may rest on. */
            context?: string[];
            /** @description A unified diff. */
            diff?: string | null;
            /** @description Measurements of the run: time, tokens, cost. */
            measurements?: components["schemas"]["Measurements"];
            /** @description Further references that are as right as the first. */
            other_references?: unknown[];
            /** @description Output and reference as checks compare them, where they are more than text. */
            raw_output?: unknown;
            raw_reference?: unknown;
            reference?: string | null;
            /** @description Expected tool calls, if they are not in the reference. */
            reference_calls?: unknown;
            /** @description What must be met, where the case says so and not the rubric. */
            requirements?: string[];
            response?: string | null;
            task?: string;
            trace?: components["schemas"]["Trace"] | null;
        };
        /** @description Time, tokens and cost of the agent, without judges. Unknown values are absent, never 0. */
        Measurements: {
            cost?: components["schemas"]["Usd"] | null;
            /**
             * Format: double
             * @description Wall time.
             */
            duration_ms?: number | null;
            usage?: components["schemas"]["Usage"] | null;
        };
        /** @description Number of ungraded cases. */
        NotGraded: {
            /** Format: uint */
            n_cases: number;
            /** Format: uint */
            n_not_graded: number;
            /** @description The most frequent first. */
            reasons: components["schemas"]["NotGradedReason"][];
            /** @description In words, with the most frequent reason and what to do about it. */
            statement: string;
        };
        /** @description Why some cases were not graded. */
        NotGradedReason: {
            /** Format: uint */
            n_cases: number;
            reason: string;
            /** @description Next step that would get them graded. */
            remedy: string;
            why: components["schemas"]["Deferral"];
        };
        /** @description Outcome of the question. Only `scored` counts in the score. */
        Outcome: {
            /** @constant */
            kind: "scored";
            /**
             * Format: double
             * @description The same on 0..=1; absent for a choice that only leads on in a tree.
             */
            unit?: number | null;
            value: components["schemas"]["Value"];
        } | {
            /** @constant */
            kind: "not_applicable";
        } | {
            /** @constant */
            kind: "abstained";
            why: string;
        } | {
            /** @default  */
            detail?: string;
            failure: components["schemas"]["Failure"];
            /** @constant */
            kind: "failed";
        } | {
            /** @constant */
            kind: "deferred";
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
            /** Format: uint32 */
            members: number;
            /**
             * Format: double
             * @description The mean of the members' scores in the scale's own units, where all of them have one.
             */
            native?: number | null;
            /** Format: uint32 */
            passes: number;
            /**
             * Format: double
             * @description The mean of the members' scores.
             */
            score?: number | null;
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
            /** Format: uint64 */
            end: number;
            in: string;
            /** Format: uint64 */
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
            /** Format: uint */
            deferred: number;
            /** Format: uint */
            errors: number;
            /** Format: uint */
            failed: number;
            /** @description Absent where every case was graded. */
            not_graded?: components["schemas"]["NotGraded"] | null;
            /** Format: uint */
            passed: number;
            /** @description Judge calls that were projected before the run began. */
            projected_calls?: components["schemas"]["CallRange"] | null;
            /** @description Against the run that this one was compared with. */
            regressions?: components["schemas"]["Regressions"] | null;
        };
        /** @description What an answer cost. */
        Spend: {
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
             * @default 0
             */
            tokens_in?: number;
            /**
             * Format: uint64
             * @default 0
             */
            tokens_out?: number;
        };
        /** @description A verdict that is another one now. */
        StatusChange: {
            after: components["schemas"]["VerdictStatus"];
            before: components["schemas"]["VerdictStatus"];
            case: string;
            /** Format: double */
            score_after?: number | null;
            /** Format: double */
            score_before?: number | null;
        };
        StepRole: ("system" | "user" | "assistant" | "other") | "tool";
        /**
         * Format: date-time
         * @description RFC 3339, in UTC.
         */
        Time: string;
        ToolCall: {
            /** @default {} */
            arguments?: {
                [key: string]: unknown;
            };
            /**
             * Format: double
             * @description Duration, if the format has it.
             */
            duration_ms?: number | null;
            id?: string | null;
            /** @default  */
            name?: string;
        };
        ToolResult: {
            /** @description The id of the call it answers. */
            call?: string | null;
            error?: boolean;
            name?: string | null;
            /** @default  */
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
            cost?: components["schemas"]["Usd"] | null;
            /**
             * Format: double
             * @description From its beginning to its end, where the format says so.
             */
            duration_ms?: number | null;
            /** @description Files that the run changed, if the format lists them for the whole run. */
            files?: components["schemas"]["FileChange"][];
            id?: string | null;
            /** @description Names of graph nodes in the order they ran. */
            nodes?: string[];
            /** @description Status at the end, as the framework names it. */
            status?: string | null;
            /** @default [] */
            steps?: components["schemas"]["TraceStep"][];
            /** @description Task of the agent, if the format has it outside the messages. */
            task?: string | null;
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
            files?: components["schemas"]["FileChange"][];
            /** @description Reasoning of the agent that is not part of a message. */
            reasoning?: string;
            results?: components["schemas"]["ToolResult"][];
            /** @default assistant */
            role?: components["schemas"]["StepRole"];
            /** @description Path or address of a picture. */
            screenshot?: string | null;
            text?: string;
            time?: components["schemas"]["Time"] | null;
            tool_calls?: components["schemas"]["ToolCall"][];
            usage?: components["schemas"]["Usage"];
        };
        /** @description One answered node on the way through a tree. */
        TreePathStep: {
            answer: string;
            /** @description The question's id, as grades name it. */
            node: string;
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
            case: string;
        };
        /** @description An undecided gate: its grader abstained, failed or was not asked. */
        UndecidedGate: {
            /** @description Absent for gates of the rubric itself. */
            criterion?: string | null;
            gate: components["schemas"]["Gate"];
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
             * @default 0
             */
            input?: number;
            /**
             * Format: uint64
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
            counts: components["schemas"]["Counts"];
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
            ended?: components["schemas"]["Time"] | null;
            /**
             * Format: uint32
             * @description Version of this contract.
             */
            format: number;
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
            spend: components["schemas"]["Spend"];
            started: components["schemas"]["Time"];
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
            /** @description Items with known answers, mixed in unmarked. */
            gold?: components["schemas"]["ItemAnswerKey"][];
            /**
             * Format: double
             * @description Minimum time per item.
             */
            min_seconds?: number | null;
            /** @default balanced */
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
            /** @default true */
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
            /** @default {} */
            criteria?: {
                [key: string]: components["schemas"]["Rated"];
            };
            /** @constant */
            kind: "rubric";
            notes?: string | null;
            overall?: components["schemas"]["Rated"] | null;
        } | {
            /** @constant */
            kind: "trajectory";
            /**
             * @description By their number, from 1.
             * @default {}
             */
            steps?: {
                [key: string]: components["schemas"]["Marked"];
            };
        } | {
            /** @constant */
            kind: "pairwise";
            label?: string | null;
        } | {
            /** @constant */
            kind: "choice";
            /** @default [] */
            labels?: string[];
        } | {
            /** @constant */
            kind: "likert";
            /** Format: uint32 */
            value?: number | null;
        } | {
            /** @constant */
            kind: "slider";
            /** Format: int64 */
            value?: number | null;
        } | {
            /** @constant */
            kind: "text";
            /** @default  */
            text?: string;
        } | {
            /**
             * @description By the id of the claim.
             * @default {}
             */
            claims?: {
                [key: string]: components["schemas"]["Verified"];
            };
            /** @constant */
            kind: "verify";
        };
        /** @description A condition on the answer to another question. */
        AnswerCondition: {
            /** @description The name of the other question. */
            question: string;
        } & ({
            case_sensitive?: boolean;
            /** @constant */
            test: "is";
            values: string[];
        } | {
            case_sensitive?: boolean;
            /** @constant */
            test: "is_not";
            values: string[];
        } | {
            /** Format: double */
            max?: number | null;
            /** Format: double */
            min?: number | null;
            /** @constant */
            test: "between";
        } | {
            /** Format: double */
            max?: number | null;
            /** Format: double */
            min?: number | null;
            /** @constant */
            test: "outside";
        } | {
            /** @constant */
            test: "answered";
        } | {
            /** @constant */
            test: "unanswered";
        });
        /** @description Order in which an annotator gets items. */
        AssignmentOrder: "balanced" | "fixed" | "random";
        /** @description One answer of a judge: to a criterion, a branch of a tree, a claim or a requirement. */
        Claim: {
            /** @description Id of the question, as in grades. */
            criterion: string;
            evidence?: components["schemas"]["Quote"][];
            /** @description Whether it is computed from its parts: the share of parts that hold. It then has no separate answer. */
            from_parts?: boolean;
            id: string;
            label: string;
            /** @description In a tree: the claim that each answer leads to, by the answer. */
            leads?: {
                [key: string]: string;
            };
            /** @description The scale, lowest first. */
            points?: components["schemas"]["ScalePoint"][];
            reason?: string | null;
            /** @description Absent if the judge did not get this question, because another branch of the tree leads to it. */
            said?: components["schemas"]["Rating"] | null;
            text?: string | null;
        };
        /** @description One of the compared candidates. */
        Compared: {
            /** @description Name in answers, independent of its position on the page. */
            label: string;
            text?: string | null;
            trace?: components["schemas"]["Trace"] | null;
        };
        Criterion: {
            description?: string | null;
            label: string;
            /** @description Whether annotators may answer "not applicable" or "cannot tell". */
            may_skip: boolean;
            name: string;
            /** @description The scale, lowest first. */
            points: components["schemas"]["ScalePoint"][];
            /** Format: double */
            weight: number;
        };
        ErrorCategory: {
            category: string;
            types: string[];
        };
        /** @description Correct answers by criterion or step, or one answer if the scheme has one question. */
        ExpectedAnswer: components["schemas"]["Value"] | string[] | {
            [key: string]: components["schemas"]["Value"];
        };
        /** @description A text that an answer is compared with. */
        Given: {
            kind: components["schemas"]["GivenKind"];
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
            id: string;
            /** @description Whether the fields are shown side by side. */
            side_by_side?: boolean;
            /** @description What an agent was asked. */
            task?: string | null;
            text?: string | null;
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
            key: string;
            label: string;
            text: string;
        };
        /** @description The annotation of one step. */
        Marked: {
            error?: string | null;
            mark?: string | null;
            rationale?: string | null;
            severity?: string | null;
        };
        NotesField: {
            label: string;
            placeholder?: string | null;
        };
        /** @description A quote from the item, with its position in bytes. */
        Quote: {
            /** Format: uint64 */
            end?: number | null;
            /** @description Such as `trace.3.result.1`. */
            part?: string | null;
            quote: string;
            /** Format: uint64 */
            start?: number | null;
        };
        /** @description The annotation of one criterion; without a rating it is unanswered. */
        Rated: {
            comment?: string | null;
            evidence?: components["schemas"]["Quote"][];
            rating?: components["schemas"]["Rating"] | null;
        };
        Rating: {
            /** @constant */
            kind: "scored";
            value: components["schemas"]["Value"];
        } | {
            /** @constant */
            kind: "not_applicable";
        } | {
            /** @constant */
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
            value: components["schemas"]["Value"];
        };
        /** @description One question, or several that belong together. */
        Scheme: {
            description?: string | null;
            name: string;
            /** @description Whether it must be answered before anything is submitted. */
            required: boolean;
            /** @description When it is asked; always by default. */
            shown_when?: components["schemas"]["ShowCondition"] | null;
        } & ({
            criteria: components["schemas"]["Criterion"][];
            /** @constant */
            kind: "rubric";
            notes?: components["schemas"]["NotesField"] | null;
            /** @description Overall rating; optional and not part of the weighted score. */
            overall?: components["schemas"]["Criterion"] | null;
            /** @description Whether annotators see the weighted score during annotation. */
            shows_score: boolean;
        } | {
            errors: components["schemas"]["ErrorCategory"][];
            /**
             * Format: double
             * @description Start value of the running score.
             */
            initial: number;
            /** @constant */
            kind: "trajectory";
            /** @description The first one means correct. */
            marks: string[];
            severities: components["schemas"]["SeverityLevel"][];
            /** @description Which steps are marked, from 1. */
            steps: number[];
        } | {
            /** @constant */
            kind: "pairwise";
            labels: string[];
            tie_label?: string | null;
        } | {
            dropdown: boolean;
            /** @constant */
            kind: "choice";
            labels: string[];
            many: boolean;
        } | {
            /** @constant */
            kind: "likert";
            max_label?: string | null;
            min_label?: string | null;
            /** Format: uint32 */
            size: number;
        } | {
            /** @constant */
            kind: "slider";
            /** Format: int64 */
            max: number;
            max_label?: string | null;
            /** Format: int64 */
            min: number;
            min_label?: string | null;
            /**
             * Format: int64
             * @description Position of the handle before it is moved.
             */
            start?: number | null;
            /** Format: uint32 */
            step: number;
        } | {
            /** @constant */
            kind: "text";
            multiline: boolean;
            placeholder?: string | null;
        } | {
            claims: components["schemas"]["Claim"][];
            /** @constant */
            kind: "verify";
        });
        SeverityLevel: {
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
            conditions: components["schemas"]["AnswerCondition"][];
        };
        /** @enum {string} */
        Verification: "confirmed" | "corrected";
        /** @description The annotation of a judge's answer. */
        Verified: {
            comment?: string | null;
            /** @description The corrected answer. */
            rating?: components["schemas"]["Rating"] | null;
            verdict?: components["schemas"]["Verification"] | null;
        };
        /**
         * Form
         * @description An annotation form: the root type of its JSON Schema.
         */
        Form: {
            draft: {
                [key: string]: components["schemas"]["Answer"];
            };
            item: components["schemas"]["Item"];
            schemes: components["schemas"]["Scheme"][];
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
