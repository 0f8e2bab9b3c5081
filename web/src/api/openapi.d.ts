// Generated from schemas/openapi.json by scripts/types.mjs; do not edit.

export interface paths {
    "/api/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all accounts */
        get: operations["list_accounts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Disable or enable an account */
        patch: operations["set_account_disabled"];
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The agents of the project, by name */
        get: operations["list_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List active alerts, the newest first */
        get: operations["list_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{id}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Acknowledge an alert; the first acknowledgement is stored */
        post: operations["acknowledge_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{id}/snooze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Snooze an alert: no notification until then, and a reminder if the cause still holds */
        post: operations["snooze_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assignments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Your own assignment */
        get: operations["get_assignment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assignments/{id}/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Save the current draft */
        put: operations["save_assignment_draft"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assignments/{id}/skip": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Skip an assignment, so that it is assigned to another annotator */
        post: operations["skip_assignment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/assignments/{id}/submit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit an assignment; incomplete answers are refused with the missing parts */
        post: operations["submit_assignment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Audit log of the project, newest first */
        get: operations["list_audit_entries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Datasets by name */
        get: operations["list_datasets"];
        put?: never;
        /** Create a dataset without cases */
        post: operations["create_dataset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A dataset */
        get: operations["get_dataset"];
        put?: never;
        post?: never;
        /** Archive a dataset; its versions stay readable */
        delete: operations["archive_dataset"];
        options?: never;
        head?: never;
        /** Change the description of a dataset, archive it or restore it */
        patch: operations["update_dataset"];
        trace?: never;
    };
    "/api/v1/datasets/{name}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Cases of a version, in the order in which they were added */
        get: operations["list_dataset_cases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{name}/cases/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A case of a version, with its record */
        get: operations["get_dataset_case"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{name}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Differences between two versions */
        get: operations["diff_dataset_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{name}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export a version as JSON lines, as a Parquet table, or as a suite with the rubrics of its cases */
        get: operations["export_dataset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/datasets/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Versions of a dataset, the newest first */
        get: operations["list_dataset_versions"];
        put?: never;
        /**
         * Add, change or remove cases: all changes of a request make one version
         * @description Cases come from `records`, from `traces` by id or by `trace_filter`, and from an annotation task. The key of a case is
         *     the `id` of its record; a case with the key of another one replaces it. Cases with the same task are in the same
         *     split. Nothing is written if a case cannot be taken; with `create`, no dataset is created then. More cases than a
         *     body holds (32 MiB by default) are sent in several requests, each with the version of the one before as `base`.
         */
        post: operations["add_dataset_version"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all grades, verdicts or traces of the project, newest first; without grades of items that you have
         *     not annotated yet
         */
        get: operations["export_project"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/grades": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Grades, the newest first */
        get: operations["list_grades"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create an invitation link for one person, valid for a day */
        post: operations["create_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{item}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All annotations of an item; hidden from annotators who have not answered it yet */
        get: operations["list_item_answers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/items/{item}/decisions/{scheme}/{criterion}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Resolve a disagreement; the decision becomes the label */
        put: operations["decide_dispute"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count the jobs in the queue */
        get: operations["count_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/dead": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Jobs of the project that failed too often, the newest first */
        get: operations["list_dead_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a dead job */
        delete: operations["discard_job"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{id}/revive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retry a dead job */
        post: operations["revive_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create an account from an invitation, and sign in */
        post: operations["join_by_invitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/join/task": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Join a task by a link, by an id from a platform, or on an open server by a name
         * @description The same id, or on a server without accounts the same name, is the same person. On a server with accounts, a name
         *     that is used in the project, also in another task, needs the session cookie of its first join.
         */
        post: operations["join_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List judges of monitors and judges that were called within 30 days */
        get: operations["list_judges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/judges/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a judge once; costs a few tokens under the project's cap */
        post: operations["ping_judge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The people of the project */
        get: operations["list_members"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/members/{account}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Give a member another role
         * @description Other people join by invitation, so that a person becomes a member only with consent; an administrator may
         *     add members.
         */
        put: operations["set_member_role"];
        post?: never;
        /** Remove a member from the project */
        delete: operations["delete_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Monitors by name */
        get: operations["list_monitors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Validate a monitor with its judges and anchors, with advice; nothing is saved */
        post: operations["check_posted_monitor"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A monitor, by its name or id */
        get: operations["get_monitor"];
        /**
         * Create or update a monitor from a file; an unchanged file changes nothing, and earlier traces are not
         *     re-scored
         */
        put: operations["upsert_monitor"];
        post?: never;
        /** Remove a monitor; its results stay stored */
        delete: operations["delete_monitor"];
        options?: never;
        head?: never;
        /** Pause or resume a monitor */
        patch: operations["set_monitor_paused"];
        trace?: never;
    };
    "/api/v1/monitors/{name}/comparisons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Comparisons side by side, the newest first */
        get: operations["list_monitor_comparisons"];
        put?: never;
        /**
         * Compare two agents, or two versions, on common tasks; without confirmation only the projected cost is
         *     returned
         */
        post: operations["request_monitor_comparison"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Decisions of a monitor, newest first; `disputed` selects traces on which judges disagree */
        get: operations["list_monitor_decisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}/estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Estimates for all traffic, by rubric version and judge */
        get: operations["get_monitor_estimates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}/projection": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Projected monthly cost and precision of another sample rate */
        get: operations["get_sampling_projection"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}/radar": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Means per criterion and agent, for a radar chart */
        get: operations["get_monitor_radar"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}/rescores": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Re-scorings of a monitor, newest first, with the difference between versions */
        get: operations["list_monitor_rescores"];
        put?: never;
        /**
         * Re-score traces of earlier versions, or repeat failed calls; without confirmation only the projected cost is
         *     returned
         */
        post: operations["request_monitor_rescore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}/trend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Estimates by day with confidence sequences, separately for each rubric version */
        get: operations["get_monitor_trend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/monitors/{name}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Versions of a monitor, the newest first */
        get: operations["list_monitor_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Notification settings */
        get: operations["get_notification_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change notification settings */
        patch: operations["update_notification_settings"];
        trace?: never;
    };
    "/api/v1/notifications/try": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test notification to all recipients */
        post: operations["send_test_notification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/presets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the built-in rubrics */
        get: operations["list_presets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the projects that you can access */
        get: operations["list_projects"];
        put?: never;
        /** Create a project; the caller becomes its owner */
        post: operations["create_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/ranking": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ranking from pairwise comparisons */
        get: operations["get_ranking"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/reward": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Grade completions by a rubric and return their scores as rewards */
        post: operations["grade_rewards"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rubric-versions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A version, which never changes */
        get: operations["get_rubric_version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rubric-versions/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Differences from another version to this one */
        get: operations["diff_rubric_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rubrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rubrics by name */
        get: operations["list_rubrics"];
        put?: never;
        /** A new rubric with its first version */
        post: operations["create_rubric"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rubrics/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Validate a rubric, with advice; nothing is saved */
        post: operations["check_posted_rubric"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rubrics/prompt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Preview the judge prompts for a trace; no model is called */
        post: operations["preview_judge_prompts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rubrics/try": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try a rubric on traces; without confirmation only the projected cost is returned */
        post: operations["try_rubric"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rubrics/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A rubric */
        get: operations["get_rubric"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Archive or restore a rubric */
        patch: operations["set_rubric_archived"];
        trace?: never;
    };
    "/api/v1/rubrics/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Versions of a rubric, the newest first */
        get: operations["list_rubric_versions"];
        put?: never;
        /** A version of a rubric; the same content is the same version */
        post: operations["add_version"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/run-history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Score and pass rate of a suite's runs over time, and where they changed
         * @description Each run is compared with the run before it in the list, case by case; a change is shown if it is significant at
         *     95 %.
         */
        get: operations["get_run_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Runs, the newest first */
        get: operations["list_runs"];
        put?: never;
        /**
         * Submit a suite to the workers
         * @description API keys are those of the workers. Files must not start programs or name servers, unless the server allows
         *     it.
         */
        post: operations["create_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run without its results */
        get: operations["get_run"];
        /**
         * Begin a run that was graded elsewhere
         * @description Results follow in parts, then the end. The same header may be sent again.
         */
        put: operations["push_run"];
        post?: never;
        /** Delete a run with its results; waiting cases are not started */
        delete: operations["delete_run"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Answers in the order of the plan, without grades */
        get: operations["list_run_answers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compare the cases of two runs: answers with a word diff, grades and reasons of both */
        get: operations["list_run_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/comparison": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compare a run with other runs, with intervals and p-values */
        get: operations["get_run_comparison"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/criteria": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The mean of each criterion, with its confidence interval */
        get: operations["get_run_criteria"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a run that was graded elsewhere
         * @description Refused if results are missing, so that a run never counts with a part of its cases.
         */
        post: operations["end_pushed_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the events of a run
         * @description `graded` has a result, in the order of the plan; its id is the position, and a client that reconnects with
         *     it as `Last-Event-ID` gets the following events. `progress` has the number of results, and `ended` is the
         *     last event.
         */
        get: operations["stream_run_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/exchanges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Judge calls for a case of a run, oldest first */
        get: operations["list_run_exchanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/flaky": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Cases whose trials disagree, the most undecided first */
        get: operations["list_flaky_cases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/labels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Labels of people for the cases of a run, in the order of the plan */
        get: operations["list_run_labels"];
        /**
         * Label a case of a run: pass or fail, with a comment
         * @description A person has one label per case; another one replaces it. A token labels for its owner.
         */
        put: operations["put_run_label"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/matrix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tabulate a run by two factors, such as models and prompts */
        get: operations["get_run_matrix"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report of the results so far */
        get: operations["get_run_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/rerun": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run cases again, as a new run with the submitted files and settings
         * @description Only for runs that were submitted to this server: it does not have the files of others.
         */
        post: operations["rerun_cases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Results in the order of the plan */
        get: operations["list_run_results"];
        /**
         * Results of a run that was graded elsewhere
         * @description In parts of up to 500, in any order. A part may be sent again; a verdict that has arrived is not replaced.
         */
        put: operations["push_run_results"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The signed-in account and its projects */
        get: operations["get_session"];
        put?: never;
        /** Sign in; a session begins, and any that the browser had ends */
        post: operations["sign_in"];
        /** Sign out */
        delete: operations["sign_out"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Change the password; all other sessions end */
        put: operations["change_password"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/session/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Join another project by an invitation */
        post: operations["join_project"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/spend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Spend of a month: total, projection and breakdown */
        get: operations["get_spend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/spend/cap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Set the monthly cap, from the next call on */
        put: operations["set_cap"];
        post?: never;
        /** Remove the cap */
        delete: operations["remove_spend_cap"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tallies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Statistics by rubric, criterion and grader, optionally over time */
        get: operations["list_tallies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tasks, the newest first */
        get: operations["list_tasks"];
        put?: never;
        /**
         * A new task
         * @description From an annotation file with its data (`config`, `files`), from a rubric over stored traces (`name`,
         *     `rubric`, `traces`), or to verify judge answers (`name`, `verify`).
         */
        post: operations["create_task"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A task with its questions */
        get: operations["get_task"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Open, close or change a task */
        patch: operations["update_task"];
        trace?: never;
    };
    "/api/v1/tasks/{task}/agreement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Agreement between people, with each other and with judges */
        get: operations["get_task_agreement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/disputes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List disputes, the largest difference first */
        get: operations["list_disputes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Export all answers, one row each; `excluded` marks those of excluded annotators */
        get: operations["export_task_answers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Add items to a task; existing items stay unchanged */
        post: operations["add_items"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/items/{item}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove an item from a task; its annotations stay stored */
        delete: operations["remove_item"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create invitation links for annotators without accounts
         * @description The settings of the task are not changed. With the setting `crowd`, the response also has a link for crowd platforms.
         */
        post: operations["create_join_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The annotator's next item: a started one, or a new one */
        post: operations["assign_next_item"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/people": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Activity of annotators: answers, pace, missed gold items and attention checks, warnings */
        get: operations["list_task_annotators"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{task}/people/{account}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Exclude an annotator, or include them again
         * @description Answers of an excluded annotator stay stored. They are left out of disputes, agreement, results and labels, and the
         *     export of the task marks them.
         */
        patch: operations["update_task_annotator"];
        trace?: never;
    };
    "/api/v1/tasks/{task}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Results of a task: means on the native scale, overall and weighted score, and a radar by any field */
        get: operations["get_task_results"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The project's tokens, without their secrets */
        get: operations["list_project_tokens"];
        put?: never;
        /** A new token; its secret is in this answer and nowhere else */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a token */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/trace-counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Numbers of traces by agent, state, failure and score, for the filters of a list
         * @description Parameters are those of the list of traces; `sort`, `after` and `limit` have no effect. `verdict` is refused, because
         *     such counts would reveal verdicts that are hidden from annotators.
         */
        get: operations["count_traces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Traces with the decisions of monitors, newest first by default */
        get: operations["list_traces"];
        put?: never;
        /**
         * Upload a trace, complete or in pieces
         * @description When the response arrives, the accepted data is on disk. Pieces may arrive in any order; the trace is
         *     assembled when it is finished, and again when more pieces arrive.
         */
        post: operations["receive_trace"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Traces line by line, in any format
         * @description Each line is a trace in a format that `jurist trace` reads, an export of OpenTelemetry, or what
         *     `POST /traces` takes. Each is answered by a line, and one that is wrong does not harm the others. A body
         *     may be of any size and has up to 100,000 lines.
         */
        post: operations["send_lines"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metadata of a trace */
        get: operations["get_trace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The assembled trace */
        get: operations["get_trace_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces/{id}/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Explain why a trace has a score or none: decision and history per monitor */
        get: operations["list_trace_decisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces/{id}/exchanges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Judge calls for a trace, oldest first; cached replies caused no call */
        get: operations["list_trace_exchanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/verdicts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Verdicts, the newest first */
        get: operations["list_verdicts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Liveness check */
        get: operations["get_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics of the server, for Prometheus
         * @description On a server with accounts, a token with the scope `read` is needed.
         */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Readiness check: the database answers, and the disk has space */
        get: operations["get_readiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/traces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Spans of OpenTelemetry, in protobuf or JSON
         * @description Spans that cannot be stored are counted in `partialSuccess`; the others are on disk. 429 and 503 have
         *     `Retry-After`.
         */
        post: operations["receive_otlp_export"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AccountChange: {
            /** @description Whether the account is disabled: its sessions end, and its tokens and invitations stop working. */
            disabled: boolean;
        };
        AccountView: {
            /** @description When the account was created, in UTC (RFC 3339). */
            created: string;
            /** @description When the account was disabled. */
            disabled?: string | null;
            /** @description E-mail address with which the person signs in. */
            email: string;
            /**
             * @description Id of the account.
             * @example acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description May do anything, in every project. */
            is_admin: boolean;
            /** @description Name that others see. */
            name: string;
        };
        AgentFigures: {
            /** @description Name of the agent. */
            agent: string;
            /** @description Its mean score on each day that has one. */
            days: components["schemas"]["DayMean"][];
            /** @description Scores. */
            n: number;
            /**
             * Format: int64
             * @description Finished traces of the agent that the current rubric version decided about.
             */
            n_seen: number;
            pass_rate?: components["schemas"]["Figure"] | null;
            score?: components["schemas"]["Figure"] | null;
        };
        AgentView: {
            /** @description When the agent was first known to the project, in UTC (RFC 3339). */
            created: string;
            /** @description Id of the agent. */
            id: string;
            /** @description As its traces name it. */
            name: string;
            /** @description When its last trace was received. */
            seen: string;
            /** @description Settings of the agent as a JSON object; empty if it has none. */
            settings: unknown;
        };
        /** @description An alert. */
        AlertShown: {
            /** @description When it was acknowledged. */
            acknowledged?: string | null;
            /** @description Its agent, if it is about one. */
            agent?: string | null;
            /** @description Its criterion, if it is about one. */
            criterion?: string | null;
            /** @description The figures behind it. */
            facts: unknown;
            /**
             * @description Id of the alert.
             * @example alr_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description score_drop, error_rate, spend, spend_stop, budget_stop, no_data, monitor_paused, judge_disagreement or threshold. */
            kind: string;
            /** @description The alert in words. */
            message: string;
            /** @description The monitor that it is about. */
            monitor?: string | null;
            /** @description When it was raised, in UTC (RFC 3339). */
            raised: string;
            /** @description When it was resolved. */
            resolved?: string | null;
            /** @description When the notification was sent. */
            sent?: string | null;
            /** @description Until then nothing is sent about it. */
            snoozed_until?: string | null;
            /** @description Subject, such as `monitor / agent / criterion`; empty if there is only one. */
            subject: string;
        };
        AlertSnooze: {
            /**
             * Format: int32
             * @description Hours from now, at most 2160 (90 days); 0 ends a snooze.
             * @example 24
             */
            hours: number;
        };
        Alerts: {
            /** @description Alerts, newest first. */
            items: components["schemas"]["AlertShown"][];
            /** @description When this server last checked all monitors, in UTC (RFC 3339); absent if it has not done so since it started. */
            last_check?: string | null;
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
            /** @description When this server checks all monitors next; absent before its first check. */
            next_check?: string | null;
        };
        /** @description Alpha without one of the graders */
        AlphaWithoutPerson: {
            /** @description Criterion that the value is about. */
            criterion: string;
            /**
             * Format: double
             * @description Krippendorff's alpha of the other annotators, from -1 to 1; `null` if it cannot be computed.
             */
            leave_out?: number | null;
            /** @description Name of the annotator who is left out. */
            name: string;
            /** @description Why there is no value; `null` if there is one. */
            undefined?: string | null;
        };
        AnnotatorActivity: {
            /** @description Id of the annotator's account. */
            account: string;
            /** @description Attention checks: correct answers of all answers. */
            attention: components["schemas"]["CorrectCount"];
            drift?: components["schemas"]["RatingDrift"] | null;
            /** @description Whether the answers of this annotator are left out of disputes, agreement, results and labels. */
            excluded: boolean;
            /** @description Gold items: correct answers of all answers. */
            gold: components["schemas"]["CorrectCount"];
            /** @description When the last answer was submitted, in UTC (RFC 3339); `null` if there is none. */
            last?: string | null;
            /**
             * Format: double
             * @description Median working time per answer in seconds, training, gold and attention items included; `null` if no time is
             *     known.
             */
            median_seconds?: number | null;
            /** @description Number of ordinary items that the annotator has answered, without training, gold and attention items. */
            n_done: number;
            /** @description Name of the annotator. */
            name: string;
            /** @description Why the answers are left out; absent if no reason was given. */
            reason?: string | null;
            /** @description Number of answers under the minimum time, training, gold and attention items included. */
            too_fast: number;
            /** @description Training items: correct answers of all answers. */
            training: components["schemas"]["CorrectCount"];
            /** @description Signs of careless work, one sentence each; empty if there are none. */
            warnings: string[];
        };
        /** @description Activity of annotators */
        AnnotatorActivityList: {
            /** @description Annotators with at least one answer. */
            items: components["schemas"]["AnnotatorActivity"][];
        };
        AnnotatorChange: {
            /** @description Whether the answers of this annotator are left out of disputes, agreement, results and labels. */
            excluded: boolean;
            /** @description Why the answers are left out. */
            reason?: string | null;
        };
        AnnotatorPairAgreement: {
            /** @description Name of the first annotator. */
            a: string;
            /** @description Name of the second annotator. */
            b: string;
            /** @description Criterion that the value is about. */
            criterion: string;
            /** @description Number of items that both answered. */
            n: number;
            /** @description Why there is no value; `null` if there is one. */
            undefined?: string | null;
            /**
             * Format: double
             * @description Quadratic kappa of numbers, kappa of labels.
             */
            value?: number | null;
        };
        AnswerOfPerson: {
            /** @description Id of the annotator's account. */
            account: string;
            /** @description Answers by scheme, as `jurist schema annotation` describes them. */
            draft: Record<string, never>;
            /** @description Name of the annotator. */
            name: string;
            /**
             * Format: double
             * @description Working time in seconds; `null` if it is unknown.
             */
            seconds?: number | null;
            /** @description When it was submitted, in UTC (RFC 3339). */
            time: string;
        };
        /** @description Result of applying a file */
        Applied: {
            /** @description Whether there is a new version; the same content changes nothing. */
            is_changed: boolean;
            /** @description Whether the rubric version is new, so that scores are not comparable with earlier ones. */
            is_new_rubric: boolean;
            /** @description The monitor after the file was applied. */
            monitor: components["schemas"]["MonitorView"];
        };
        AuditEntryPage: {
            /** @description Entries, newest first. */
            items: components["schemas"]["AuditEntryView"][];
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        AuditEntryView: {
            /** @description What was done, such as `token.add`. */
            action: string;
            /** @description Account or API token that did it. */
            actor: string;
            /** @description Details of the action, without secrets. */
            body: unknown;
            /** @description Id of the entry. */
            id: string;
            /** @description Id or name of what was changed. */
            target: string;
            /** @description When it was done, in UTC (RFC 3339). */
            time: string;
        };
        CapShown: {
            /**
             * Format: double
             * @description Most that may be spent in a month, in `currency`.
             */
            amount: number;
            /**
             * @description Code of the currency (ISO 4217).
             * @example GBP
             */
            currency: string;
            /**
             * Format: double
             * @description The same amount in US dollars.
             */
            dollars: number;
            /**
             * Format: double
             * @description Exchange rate to US dollars: dollars for one unit of the currency, as set with the cap.
             */
            rate: number;
        };
        /** @description One case in two runs */
        CaseChangeView: {
            /** @description The case in the later run. */
            after: components["schemas"]["CaseSideView"];
            /** @description Whether the text of the answer is different. */
            answer_changed: boolean;
            /** @description From the old answer to the new one, in words; empty where one of them is not stored. */
            answer_diff: components["schemas"]["WordRunView"][];
            /** @description The case in the earlier run. */
            before: components["schemas"]["CaseSideView"];
            /** @description Name of the case. */
            case: string;
            /** @description Criteria with the grades of both runs. */
            criteria: components["schemas"]["CriterionChangeView"][];
            /** @description worse, better, same or undecided. */
            direction: string;
            parts?: components["schemas"]["CaseNameView"] | null;
            /** @description Whether the two were graded with different rubrics. */
            rubric_changed: boolean;
        };
        /** @enum {string} */
        CaseDifferenceKind: "added" | "changed" | "removed";
        CaseDifferenceView: {
            /** @description Fields of a changed record that differ, and `rubric` or `trace`. */
            fields: string[];
            /** @description Key of the case. */
            key: string;
            /** @description What happened to the case. */
            kind: components["schemas"]["CaseDifferenceKind"];
            new?: components["schemas"]["DatasetCaseView"] | null;
            old?: components["schemas"]["DatasetCaseView"] | null;
        };
        /** @description Parts of the name of a case */
        CaseNameView: {
            /**
             * Format: int32
             * @description Row of the data, from 1; `null` if the case has no rows.
             */
            row?: number | null;
            /**
             * Format: int32
             * @description Which of several trials, from 1; `null` for a case as a whole.
             */
            trial?: number | null;
            /** @description Prompt, target and model, as far as the case has several. */
            variant: string[];
            /** @description The name that is written, with the fields of the row. */
            written: string;
        };
        CaseSideView: {
            /** @description Absent where the run does not hold what was graded. */
            answer?: string | null;
            /**
             * Format: double
             * @description Score from 0 to 1; `null` if there is none.
             */
            score?: number | null;
            /** @description pass, fail, error or deferred. */
            status: string;
        };
        ChangeCountsView: {
            /** @description Number of all cases that both runs have. */
            all: number;
            /** @description Number of cases whose verdict or score is better in the later run. */
            better: number;
            /** @description Number of cases with a different answer. */
            different_answer: number;
            /** @description Number of cases without a verdict in one of the runs. */
            undecided: number;
            /** @description Number of cases with a different verdict. */
            verdict: number;
            /** @description Number of cases whose verdict or score is worse in the later run. */
            worse: number;
        };
        /** @description A case whose verdict is another one now */
        ChangedCase: {
            /** @description Verdict in the later run: pass, fail, error or deferred. */
            after: string;
            /** @description pass, fail, error or deferred. */
            before: string;
            /** @description Name of the case. */
            case: string;
            /** @description Why it does not pass now, a line for each criterion. */
            reasons: string[];
            /**
             * Format: double
             * @description Score in the later run, from 0 to 1; `null` if it has none.
             */
            score_after?: number | null;
            /**
             * Format: double
             * @description Score in the earlier run, from 0 to 1; `null` if it has none.
             */
            score_before?: number | null;
        };
        /** @description A chart and the table behind it */
        ChartView: {
            /** @description SVG to embed in a page; it uses the colours of the page, and its texts are escaped. */
            svg: string;
            /** @description The figures of the chart as a table. */
            table: components["schemas"]["PictureTable"];
        };
        /** @description Number of pairs and projected cost of a comparison */
        ComparisonPlan: {
            /** @description The series, once it has begun. */
            id?: string | null;
            /** @description Calls of judges, at least. */
            n_calls: number;
            /** @description Pairs of traces of the same task. */
            n_pairs: number;
        };
        /** @description A comparison and its results, by judge */
        ComparisonView: {
            /** @description First candidate: an agent, with metadata where it has some. */
            a: string;
            /** @description Second candidate: an agent, with metadata where it has some. */
            b: string;
            /** @description 95 % confidence interval of `first_rate`; `null` if no pair is decided. */
            first_interval?: [
                number,
                number
            ] | null;
            /**
             * Format: double
             * @description Share of decided pairs that the first position wins; 0.5 without position bias.
             */
            first_rate?: number | null;
            /** @description Id of the comparison. */
            id: string;
            /** @description 95 % confidence interval of `rate`; `null` if no pair is decided. */
            interval?: [
                number,
                number
            ] | null;
            /** @description Name of the judge. */
            judge: string;
            /** @description Number of pairs that `a` won. */
            n_a: number;
            /** @description Number of pairs that `b` won. */
            n_b: number;
            /** @description Number of pairs that the judge could not decide because of an error. */
            n_errors: number;
            /** @description Number of ties. */
            n_ties: number;
            /**
             * Format: int64
             * @description Pairs that are still to be judged.
             */
            n_waiting: number;
            /**
             * Format: double
             * @description How often a wins where one does, with its interval.
             */
            rate?: number | null;
            /** @description Id of the rubric version. */
            rubric_version: string;
        };
        /** @description Confusion matrix: rows are the human majority, columns the judge */
        ConfusionCounts: {
            /**
             * @description Number of items for each pair of answers: one list for each answer of the people, with one number for each
             *     answer of the judge.
             */
            counts: number[][];
            /** @description Answers, in the order of the rows and columns. */
            labels: string[];
        };
        CorrectCount: {
            /** @description Number of answers. */
            all: number;
            /** @description Number of correct answers. */
            right: number;
        };
        /** @description A judge's mean, corrected by human labels */
        CorrectedView: {
            /** @description 95 %. */
            interval: [
                number,
                number
            ];
            /**
             * Format: double
             * @description Weight of the judge (λ), from 0 (labels alone) to 1.
             */
            lambda: number;
            /**
             * Format: double
             * @description Label-corrected mean, from 0 to 1.
             */
            mean: number;
            /** @description Number of human labels. */
            n_labels: number;
            /**
             * Format: double
             * @description Standard error of the mean.
             */
            se: number;
        };
        CostAhead: {
            /**
             * Format: double
             * @description Upper end of the 80 % interval; absent before the second day.
             */
            high?: number | null;
            /**
             * Format: double
             * @description 80 % interval; absent before the second day.
             */
            low?: number | null;
            /**
             * Format: double
             * @description Expected cost of a month, in US dollars.
             */
            value: number;
        };
        /** @description A token with its secret, which is not shown again. */
        CreatedToken: components["schemas"]["TokenView"] & {
            /** @description The token. It is shown once. */
            secret: string;
        };
        CriterionAgreement: {
            /** @description The same in words, as `jurist agree` prints it. */
            conclusion: string;
            /** @description Name of the criterion. */
            criterion: string;
            /** @description 95 % confidence interval of the value; `null` for fewer than ten items. */
            interval?: [
                number,
                number
            ] | null;
            /** @description Label of the criterion on pages. */
            label: string;
            /** @description Measure of agreement: `alpha` is Krippendorff's alpha. */
            metric: string;
            /** @description Number of items that at least two annotators answered. */
            n_items: number;
            /** @description Number of pairs of annotators who answered common items. */
            n_pairs: number;
            /** @description Name of the annotation scheme. */
            scheme: string;
            /** @description What the value and its interval allow to say: `good`, `tentative`, `unclear` (more answers are needed) or `low`. */
            strength: string;
            /** @description Why there is no value. */
            undefined?: string | null;
            /**
             * Format: double
             * @description Agreement from -1 to 1: 1 is perfect, 0 is chance level; `null` if it cannot be computed.
             */
            value?: number | null;
        };
        CriterionAnswerView: {
            /** @description Answer of the grader, as text. */
            answer: string;
            /** @description Quotes with their positions. */
            evidence: string[];
            /** @description Name of the check, judge or person. */
            grader: string;
            /** @description Reason of the grader; empty if there is none. */
            reason: string;
            /**
             * Format: double
             * @description Score from 0 to 1; `null` if there is none.
             */
            score?: number | null;
        };
        /** @description What graders said about one criterion in each run */
        CriterionChangeView: {
            /** @description Grades of the later run. */
            after: components["schemas"]["CriterionAnswerView"][];
            /** @description Grades of the earlier run. */
            before: components["schemas"]["CriterionAnswerView"][];
            /** @description Name of the criterion. */
            criterion: string;
        };
        CriterionEstimate: {
            corrected?: components["schemas"]["CorrectedView"] | null;
            corrected_pass_rate?: components["schemas"]["CorrectedView"] | null;
            /** @description Absent for the overall score. */
            criterion?: string | null;
            native?: components["schemas"]["NativeScore"] | null;
            /** @description Reason, if there are none. */
            not_estimable?: string | null;
            pass_rate?: components["schemas"]["TrafficView"] | null;
            score?: components["schemas"]["TrafficView"] | null;
        };
        CriterionMean: {
            /** @description Name of the criterion. */
            criterion: string;
            /** @description The 95 % confidence interval of the mean; absent with a single case. */
            interval?: [
                number,
                number
            ] | null;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            mean: number;
            /** @description Independent cases; trials of one case count once. */
            n_cases: number;
        };
        /** @description An id that a platform put into the address */
        CrowdId: {
            /** @description Id of the person on the crowd platform. */
            id: string;
            /** @description Such as `PROLIFIC_PID`. */
            key: string;
        };
        /** @description A case with its record */
        DatasetCaseInFull: components["schemas"]["DatasetCaseView"] & {
            /** @description As `jurist grade` reads it; absent if the case was erased. */
            record?: Record<string, never> | null;
        };
        DatasetCasePage: {
            /** @description Cases, in the order in which they were added. */
            items: components["schemas"]["DatasetCaseView"][];
            /**
             * Format: int64
             * @description Cases of the version, whatever the filter.
             */
            n_cases: number;
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
            /**
             * Format: int64
             * @description The version that is listed.
             */
            version: number;
        };
        /** @description A case without its record */
        DatasetCaseView: {
            /**
             * Format: int64
             * @description The first version with the case in this form.
             */
            added_in: number;
            /** @description Its trace was erased, and its text with it. */
            is_erased: boolean;
            /** @description Unique within a version. */
            key: string;
            /**
             * Format: int64
             * @description The first version without it.
             */
            removed_in?: number | null;
            rubric?: components["schemas"]["DatasetRubricView"] | null;
            /** @description `dev` or `test`. */
            split: string;
            /** @description Cases of one task are in one split. */
            task: string;
            /** @description Beginning of the input; absent if the case was erased. */
            title?: string | null;
            /** @description Id of the trace that it was made from. */
            trace?: string | null;
        };
        /** @description Differences between two versions */
        DatasetDiffView: {
            /**
             * Format: int64
             * @description Number of the old version.
             */
            from: number;
            /** @description Differences, by key of the case. */
            items: components["schemas"]["CaseDifferenceView"][];
            /**
             * Format: int64
             * @description Cases that only the new version has, over all pages.
             */
            n_added: number;
            /**
             * Format: int64
             * @description Cases whose record, rubric or trace differs, over all pages.
             */
            n_changed: number;
            /**
             * Format: int64
             * @description Cases that only the old version has, over all pages.
             */
            n_removed: number;
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
            /**
             * Format: int64
             * @description Number of the new version.
             */
            to: number;
        };
        /** @description The stored rubric of a case */
        DatasetRubricView: {
            /** @description Name of the rubric. */
            name: string;
            /**
             * @description Id of the rubric version.
             * @example rubv_local_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            version: string;
        };
        DatasetUpdate: {
            /** @description `true` archives the dataset, `false` restores it. */
            archived?: boolean | null;
            /** @description What the dataset is for; `null` removes it. */
            description?: string | null;
        };
        DatasetVersionPage: {
            /** @description Versions, the newest first. */
            items: components["schemas"]["DatasetVersionView"][];
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        /** @description The result of a request for a new version */
        DatasetVersionReceipt: {
            /** @description Whether a version was written. */
            is_new: boolean;
            /**
             * Format: int64
             * @description Cases that the version before does not have.
             */
            n_added: number;
            /**
             * Format: int64
             * @description Cases of that version.
             */
            n_cases: number;
            /**
             * Format: int64
             * @description Cases whose record, rubric or trace changed.
             */
            n_changed: number;
            /**
             * Format: int64
             * @description Cases that only the version before has.
             */
            n_removed: number;
            /**
             * Format: int64
             * @description Traces of the filter that have no content.
             */
            n_skipped: number;
            /**
             * Format: int64
             * @description Cases of the request that the version before has in the same form.
             */
            n_unchanged: number;
            /**
             * Format: int64
             * @description The new version, or the newest if nothing changed.
             */
            version: number;
        };
        /** @description A version of a dataset, which never changes */
        DatasetVersionView: {
            /** @description When it was written, in UTC (RFC 3339). */
            created: string;
            /** @description Name of the person who wrote it. */
            created_by?: string | null;
            /**
             * Format: int64
             * @description Cases that the version before does not have.
             */
            n_added: number;
            /**
             * Format: int64
             * @description Number of cases.
             */
            n_cases: number;
            /**
             * Format: int64
             * @description Cases whose record, rubric or trace differs from the version before.
             */
            n_changed: number;
            /**
             * Format: int64
             * @description Cases in the split `dev`.
             */
            n_dev: number;
            /**
             * Format: int64
             * @description Cases that only the version before has.
             */
            n_removed: number;
            /**
             * Format: int64
             * @description Cases in the split `test`.
             */
            n_test: number;
            /** @description Why the version was written, in its author's words. */
            note?: string | null;
            /**
             * Format: int64
             * @description Number of the version, from 1.
             */
            number: number;
        };
        /** @description A dataset */
        DatasetView: {
            /** @description When it was archived. */
            archived?: string | null;
            /** @description When it was created, in UTC (RFC 3339). */
            created: string;
            /** @description Name of the person who created it. */
            created_by?: string | null;
            /** @description What the dataset is for, in its author's words. */
            description?: string | null;
            /**
             * @description Id of the dataset.
             * @example dst_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Unique in the project. */
            name: string;
            newest?: components["schemas"]["DatasetVersionView"] | null;
            /**
             * Format: double
             * @description Share of tasks whose cases are in the split `test`.
             */
            test_share: number;
        };
        /** @description The mean score of a day */
        DayMean: {
            /** @description Its first moment, in UTC. */
            day: string;
            /**
             * Format: double
             * @description Mean score of the day, from 0 to 1.
             */
            mean: number;
        };
        DayShown: {
            /**
             * @description Day in UTC.
             * @example 2026-03-20
             */
            day: string;
            /**
             * Format: int64
             * @description Number of calls to models.
             */
            n_calls: number;
            /**
             * Format: double
             * @description US dollars.
             */
            spent: number;
        };
        DeadJob: {
            /**
             * Format: int64
             * @description Number of attempts that failed.
             */
            attempts: number;
            /** @description When the job was created, in UTC (RFC 3339). */
            created: string;
            /** @description Why it failed the last time. */
            error?: string | null;
            /**
             * @description Id of the job.
             * @example job_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Kind of the job. */
            kind: string;
        };
        DeadJobs: {
            /** @description Jobs that failed too often and are not tried again. */
            items: components["schemas"]["DeadJob"][];
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        DecisionPage: {
            /** @description Decisions, newest first. */
            items: components["schemas"]["DecisionView"][];
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        /** @description Decision of a monitor about a trace */
        DecisionView: {
            /** @description Name of the agent; `null` if it is unknown. */
            agent?: string | null;
            /** @description When the decision was made, in UTC (RFC 3339). */
            decided: string;
            /** @description History of states, oldest first; only in the response for one trace. */
            history?: components["schemas"]["EventView"][];
            /** @description Whether its judges disagree by more than the margin of the monitor. */
            is_disputed: boolean;
            /** @description Whether the trace was sampled. */
            is_sampled: boolean;
            /** @description The same in four words: scored, error, pending or unscored. */
            judge_status: string;
            /** @description Id of the monitor. */
            monitor: string;
            /** @description By its name. */
            monitor_name?: string | null;
            /**
             * Format: double
             * @description With which it was, or would have been, sampled.
             */
            probability: number;
            /** @description Reason for the decision; in lists, reason for the current state. */
            reason: string;
            /** @description Id of the rubric version; `null` if it is unknown. */
            rubric_version?: string | null;
            scale?: components["schemas"]["ScoreScale"] | null;
            /**
             * Format: double
             * @description Score of that verdict, from 0 to 1.
             */
            score?: number | null;
            /**
             * Format: double
             * @description Disagreement of its judges, from 0 to 1.
             */
            spread?: number | null;
            spread_scale?: components["schemas"]["ScoreScale"] | null;
            /** @description sampled, sampled_out, filtered, nothing_to_judge, over_budget, overloaded, pending, scored, cached, stale or judge_error. */
            state: string;
            /** @description failed, expensive or other. */
            stratum: string;
            /** @description Title of the trace, from its first message; only in lists, and absent if the trace has none. */
            title?: string | null;
            /** @description Id of the trace. */
            trace: string;
            /** @description When the state last changed, in UTC (RFC 3339). */
            updated: string;
            /**
             * Format: double
             * @description Sampling probability of the sender.
             */
            upstream: number;
            /** @description Newest verdict of this monitor about the trace: pass, fail, error or deferred. Absent if the trace was not judged. */
            verdict?: string | null;
            /** @description Id of the monitor version that decided. */
            version: string;
        };
        /** @description A month at another sample rate, if traffic and scores stay as they were in the last thirty days */
        DialProjection: components["schemas"]["DialView"] & {
            /** @description The same at the sample rate of the version in use. */
            now: components["schemas"]["DialView"];
        };
        /** @description A month at one sample rate. Pacing and caps may reduce the figures */
        DialView: {
            cost?: components["schemas"]["CostAhead"] | null;
            /** @description Precision of the estimates of a month. */
            half_width: components["schemas"]["HalfWidths"];
            /**
             * Format: double
             * @description Expected number of judged traces in a month.
             */
            judged_a_month: number;
            /**
             * Format: double
             * @description Share of finished traces that is judged, from 0 to 1; failed ones always are.
             */
            sample_rate: number;
            /**
             * Format: double
             * @description Watched traces in 30 mean days. Today counts, as a whole day, only if no other day has traces.
             */
            traces_a_month: number;
        };
        /** @enum {string} */
        DifferenceKind: "added" | "removed" | "changed" | "reordered";
        Dispute: {
            /** @description Id of the item in the data. */
            candidate: string;
            /** @description Criterion, claim or step; the scheme if it has one question. */
            criterion: string;
            decided?: components["schemas"]["DisputeDecision"] | null;
            /**
             * Format: double
             * @description From 0 to 1.
             */
            disagreement: number;
            /** @description Id of the item, `itm_…`. */
            item: string;
            /** @description Label of the question on pages. */
            label: string;
            /** @description The scale, lowest first. */
            points: Record<string, never>[];
            /** @description The answers of the annotators. */
            ratings: components["schemas"]["GivenRating"][];
            /** @description Name of the annotation scheme. */
            scheme: string;
            /** @description Its first words. */
            title: string;
        };
        /** @description A decision of a person */
        DisputeDecision: {
            /** @description Name of the person who decided; `null` if it is unknown. */
            by?: string | null;
            /** @description Cause of the disagreement: `guideline`, `mistake`, `ambiguous` or `other`; `null` if none was given. */
            cause?: string | null;
            /** @description Criterion, claim or step; the scheme if it has one question. */
            criterion: string;
            /** @description Of a question of several labels: those that are ticked. */
            labels?: string[] | null;
            /** @description The decided answer, such as `{"kind": "scored", "value": 4}`. */
            rating: Record<string, never>;
            /** @description Name of the annotation scheme. */
            scheme: string;
            /** @description When it was decided, in UTC (RFC 3339). */
            time: string;
            /** @description Reason of the decision; `null` if none was given. */
            why?: string | null;
        };
        /** @description List disputes, the largest difference first */
        Disputes: {
            /** @description Disputes, the largest difference first; decided ones are last. */
            items: components["schemas"]["Dispute"][];
            /** @description Send it as `after`; absent at the end. */
            next?: number | null;
        };
        DraftSaved: {
            /**
             * Format: int64
             * @description Revision of the saved draft; the next request sends it.
             */
            revision: number;
            /** @description When the draft was saved, in UTC (RFC 3339). */
            saved: string;
        };
        /** @description The end of a run that was graded elsewhere */
        EndedRun: {
            /** @description When the run ended, in UTC (RFC 3339). */
            ended: string;
            /**
             * Format: int64
             * @description How many results the run has; refused if others have arrived.
             */
            n_results: number;
        };
        /** @description Estimates of a monitor for all traffic */
        Estimates: {
            /** @description Beginning of the time range, in UTC (RFC 3339). */
            from: string;
            /** @description By rubric version, the newest first, and judge. */
            judges: components["schemas"]["JudgeEstimates"][];
            /** @description Name of the monitor. */
            monitor: string;
            /** @description Number of finished traces per state. */
            states: components["schemas"]["StateCount"][];
            /** @description End of the time range, in UTC (RFC 3339). */
            until: string;
        };
        EventView: {
            /** @description Reason for the state. */
            note: string;
            /** @description State of the decision, such as `sampled` or `scored`. */
            state: string;
            /** @description When the state was reached, in UTC (RFC 3339). */
            time: string;
        };
        /** @description A stretch of bytes in one part of a candidate */
        EvidencePlace: {
            /**
             * Format: int64
             * @description Offset after the last byte of the quote in this part.
             */
            end: number;
            /** @description Such as `response` or `trace.3.result`. */
            in: string;
            /**
             * Format: int64
             * @description Offset of the first byte of the quote in this part, from 0.
             */
            start: number;
        };
        ExchangeMessage: {
            /** @description Text of the message. */
            content: string;
            /** @description system, user or assistant. */
            role: string;
        };
        /** @description One judge call: the request and the reply */
        ExchangeView: {
            /** @description Criterion; the first one if several were asked together. */
            criterion?: string | null;
            /** @description Error, if there is no reply. */
            error?: string | null;
            /** @description Name of the judge. */
            judge: string;
            /** @description Messages that were sent, in their order. */
            messages: components["schemas"]["ExchangeMessage"][];
            /** @description For traces: name of the monitor that made the call. */
            monitor?: string | null;
            /** @description Text of the reply; `null` if there was none. */
            reply?: string | null;
            /** @description Of traces. */
            rubric_version?: string | null;
            /** @description When it was written down. */
            time: string;
        };
        /** @description A mean over all traffic, post-stratified */
        Figure: {
            /**
             * Format: double
             * @description Upper end of the 95 % confidence interval.
             */
            high: number;
            /**
             * Format: double
             * @description Of the 95 % interval.
             */
            low: number;
            /**
             * Format: double
             * @description Estimate for all traffic, from 0 to 1.
             */
            mean: number;
            /** @description Number of scored traces. */
            n: number;
        };
        /** @description Result of checking a file */
        FileCheckResult: {
            /** @description In native form; absent if there is an error. */
            canonical?: Record<string, never> | null;
            /** @description Of the rubric's canonical form, as versions have it. */
            hash?: string | null;
            /** @description Problems beyond those. */
            n_left_out: number;
            /** @description Diagnostics in the order of the file, as `jurist check --lint` prints them. */
            problems: components["schemas"]["Remark"][];
        };
        FlakyCase: {
            /** @description Name of the case. */
            case: string;
            /**
             * Format: double
             * @description Share of trials that go against the majority.
             */
            flip_rate: number;
            /** @description Trials with a verdict. */
            n: number;
            /** @description Probability that all of k trials pass, for k from 1 to n. */
            pass_k: number[];
            /** @description Number of trials that passed. */
            passed: number;
            /** @description In the order of the plan; null where a trial has none. */
            scores: (number | null)[];
        };
        /** @description Projected month-end spend from the last four weeks, with an 80 % interval. */
        ForecastShown: {
            /**
             * Format: double
             * @description Projected spend at the end of the month, in US dollars.
             */
            expected: number;
            /**
             * Format: double
             * @description Upper end of the 80 % prediction interval, in US dollars.
             */
            high: number;
            /**
             * Format: double
             * @description Lower end of the 80 % prediction interval, in US dollars.
             */
            low: number;
            /** @description When the cap is reached, if it is to be this month. */
            reaches_cap?: string | null;
        };
        GivenRating: {
            /** @description Id of the annotator's account. */
            account: string;
            /** @description Comment of the annotator; `null` if there is none. */
            comment?: string | null;
            /** @description Quotes that the annotator marked, as `jurist schema annotation` describes them. */
            evidence: Record<string, never>[];
            /** @description Name of the annotator. */
            name: string;
            /** @description Answer of the annotator, as `jurist schema annotation` describes it. */
            rating: Record<string, never>;
        };
        /** @description Texts of a grade: only with `full`, and until retention erases them */
        GradeDetails: {
            error?: components["schemas"]["GradeError"] | null;
            /** @description Quotes that support the answer; absent if there are none. */
            evidence?: components["schemas"]["GradeEvidence"][];
            /** @description Flags: verdict_in_candidate, no_verifiable_evidence. */
            flags?: string[];
            /** @description Claims or requirements that the grade is based on. */
            points?: components["schemas"]["GradePoint"][];
            /** @description Reason of the grader; absent if there is none. */
            reason?: string;
            /** @description The answer on the criterion's own scale: a number, a text, or true or false. */
            value?: unknown;
            /** @description Reason of an abstention or a deferral. */
            why?: string | null;
        };
        GradeError: {
            /** @description What happened, in words. */
            detail: string;
            /** @description timeout, rate_limit, refusal, malformed, off_scale, auth, evidence_not_found, unavailable or crashed. */
            failure: string;
        };
        /** @description A quote and its position in the candidate; without a position it was not found */
        GradeEvidence: {
            found?: components["schemas"]["EvidencePlace"] | null;
            /** @description Text of the quote. */
            quote: string;
        };
        /** @description A grade in numbers */
        GradeLine: components["schemas"]["GradeDetails"] & {
            /** @description Agent that produced the candidate; `null` if it is unknown. */
            agent?: string | null;
            /** @description Id of the candidate, such as that of a trace or of a case. */
            candidate: string;
            /**
             * Format: double
             * @description Dollars.
             */
            cost?: number | null;
            /** @description Criterion of the rubric. */
            criterion: string;
            /** @description Name of the check, judge or person. */
            grader: string;
            /** @description Kind of grader: check, judge or human. */
            grader_kind: string;
            /** @description Id of the grade. */
            id: string;
            /** @description Whether the answer passes its criterion; `null` if it has no score. */
            is_passed?: boolean | null;
            /** @description scored, not_applicable, abstained, failed or deferred. */
            outcome: string;
            /**
             * Format: double
             * @description With which it was sampled.
             */
            probability: number;
            /** @description Id of the rubric version. */
            rubric_version: string;
            /**
             * Format: double
             * @description On 0..=1.
             */
            score?: number | null;
            /** @description When the answer was given, in UTC (RFC 3339). */
            time: string;
        };
        GradeLines: {
            /** @description Grades of this page. */
            items: components["schemas"]["GradeLine"][];
            /** @description Number of grades hidden on this page because you have not annotated their items yet. */
            n_withheld: number;
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        /** @description A claim or a requirement, and whether it holds */
        GradePoint: {
            /** @description Quotes that support it; absent if there are none. */
            evidence?: components["schemas"]["GradeEvidence"][];
            /** @description Whether the claim or requirement holds. */
            holds: boolean;
            /** @description Text of the claim or requirement. */
            text: string;
        };
        GradeSum: {
            /**
             * Format: double
             * @description Cost in US dollars.
             */
            cost: number;
            /** @description Criterion of the rubric. */
            criterion: string;
            /** @description Name of the check, judge or person. */
            grader: string;
            /** @description Kind of grader: check, judge or human. */
            grader_kind: string;
            /**
             * Format: double
             * @description Mean score from 0 to 1; `null` if nothing was scored.
             */
            mean?: number | null;
            /**
             * Format: int64
             * @description Number of grades in which the grader could not tell.
             */
            n_abstained: number;
            /**
             * Format: int64
             * @description Number of grades that are still to come.
             */
            n_deferred: number;
            /**
             * Format: int64
             * @description Number of grader errors. They are never scores.
             */
            n_failed: number;
            /**
             * Format: int64
             * @description Number of grades whose criterion does not apply.
             */
            n_not_applicable: number;
            /**
             * Format: int64
             * @description Number of grades with a score.
             */
            n_scored: number;
            /**
             * Format: double
             * @description Share of scored grades that pass, from 0 to 1; `null` if nothing was scored.
             */
            pass_rate?: number | null;
            /** @description Id of the rubric version. */
            rubric_version: string;
            /**
             * Format: double
             * @description Standard error of the mean; `null` for fewer than two scores.
             */
            standard_error?: number | null;
            /** @description Where the day or hour begins. */
            time?: string | null;
        };
        /** @description Half width of the 95 % confidence interval of a monthly estimate; absent if nothing is scored yet */
        HalfWidths: {
            /**
             * Format: double
             * @description Half-width of the 95 % confidence interval of the pass rate; absent if it is unknown.
             */
            pass_rate?: number | null;
            /**
             * Format: double
             * @description Half-width of the 95 % confidence interval of the score; absent if it is unknown.
             */
            score?: number | null;
        };
        /** @description A run compared with the run before it, paired by case */
        HistoryChangeView: {
            /** @description The run before it. */
            baseline: string;
            /** @description not_shown, worse, better, or mixed where score and pass rate differ in their direction (95 %). */
            direction: string;
            /** @description Cases that both decided with the same rubric. */
            n_cases: number;
            pass_rate?: components["schemas"]["RunDifference"] | null;
            scale?: components["schemas"]["ScoreScale"] | null;
            score?: components["schemas"]["RunDifference"] | null;
        };
        /** @description A run with its intervals, and what changed since the one before it */
        HistoryPoint: components["schemas"]["RunLine"] & {
            change?: components["schemas"]["HistoryChangeView"] | null;
            /** @description Independent cases that have a score. */
            n_cases: number;
            /**
             * Format: double
             * @description Of the results that passed or failed.
             */
            pass_rate?: number | null;
            /** @description 95 % confidence interval of the pass rate; `null` if no case was decided. */
            pass_rate_interval?: [
                number,
                number
            ] | null;
            /** @description The 95 % confidence interval of the score; absent with a single case. */
            score_interval?: [
                number,
                number
            ] | null;
        };
        /** @description A way in that works once. */
        InvitationLink: {
            /** @description Secret of the invitation. It is shown once. */
            invitation: string;
            /** @description Path and fragment of the link; the fragment after `#` is not sent to the server. */
            path: string;
        };
        /** @description All annotations of an item */
        ItemAnswers: {
            /** @description The newest answers of each annotator who is not excluded. */
            answers: components["schemas"]["AnswerOfPerson"][];
            /** @description Id of the item in the data. */
            candidate: string;
            /** @description Decisions about disputes of this item. */
            decisions: components["schemas"]["DisputeDecision"][];
            /** @description The item, as `jurist schema annotation` describes it. */
            item: Record<string, never>;
            /** @description The questions, as `jurist schema annotation` describes them. */
            schemes: Record<string, never>[];
            /** @description Id of the task. */
            task: string;
        };
        ItemsAdded: {
            /** @description Number of items that were added. */
            n_new: number;
            /** @description Number of items that the task already had. They are not changed. */
            n_there: number;
        };
        JobCountView: {
            /** @description Kind of the jobs. */
            kind: string;
            /**
             * Format: int64
             * @description Number of jobs.
             */
            n: number;
            /** @description When the first of them may start. */
            oldest: string;
            /** @description waiting, leased or dead. */
            state: string;
        };
        Join: {
            /** @description E-mail address with which the person signs in. */
            email: string;
            /** @description The fragment after `#` in the link. */
            invitation: string;
            /** @description Name that others see. */
            name: string;
            /** @description Password of the new account. */
            password: string;
        };
        JoinProject: {
            /** @description The fragment after `#` in the link. */
            invitation: string;
        };
        /** @description Name or crowd id of the person who joins */
        JoinTask: {
            crowd?: components["schemas"]["CrowdId"] | null;
            /** @description Name of the annotator, unique in the project. */
            name?: string | null;
            /** @description Id of the task; on a server with accounts, a link's `token` is needed instead. */
            task?: string | null;
            /** @description The text after `#task=` in a link. */
            token?: string | null;
        };
        JoinedTask: {
            /** @description Id of the annotator's account. */
            account: string;
            /** @description Name of the annotator. */
            name: string;
            /** @description Id of the project. */
            project: string;
            /** @description Id of the task. */
            task: string;
        };
        JudgeAgreement: {
            confusion?: components["schemas"]["ConfusionCounts"] | null;
            /** @description Criterion that the values are about. */
            criterion: string;
            /** @description Items on which the judge differs from an annotator, the largest difference first. */
            disagreements: components["schemas"]["JudgeHumanDisagreement"][];
            /** @description 95 % confidence interval of kappa; `null` if there are too few items. */
            interval?: [
                number,
                number
            ] | null;
            /** @description Name of the judge. */
            judge: string;
            /**
             * Format: double
             * @description Cohen's kappa between the judge and the human majority, from -1 to 1, weighted quadratically on numeric scales;
             *     `null` if it cannot be computed.
             */
            kappa?: number | null;
            /** @description Why there is no kappa; `null` if there is one. */
            undefined?: string | null;
        };
        JudgeEstimates: {
            /** @description The overall score and every criterion. */
            criteria: components["schemas"]["CriterionEstimate"][];
            /** @description Whether the monitor works with this version now. */
            is_current: boolean;
            /** @description One model, or several, whose scores are averaged. */
            judge: string;
            /** @description Id of the rubric version. */
            rubric_version: string;
        };
        JudgeHumanDisagreement: {
            /** @description Id of the item in the data. */
            candidate: string;
            /** @description Id of the item, `itm_…`; empty if it is not an item of the task. */
            item: string;
            /** @description Answer of the judge. */
            judge: string;
            /** @description Answers of the annotators. */
            people: string[];
            /** @description Reason of the judge; `null` if it gave none. */
            reason?: string | null;
            /** @description Its first words. */
            title: string;
        };
        /** @enum {string} */
        JudgeKey: "present" | "missing" | "not_needed";
        JudgePing: {
            /**
             * @description Name of the judge to test.
             * @example openai/gpt-5-mini
             */
            judge: string;
        };
        /** @description Whether a judge answers */
        JudgePingResult: {
            /**
             * Format: double
             * @description Dollars, where they are known.
             */
            cost?: number | null;
            /** @description Why it does not answer. */
            error?: string | null;
            /** @description Whether its replies follow the reply schema. */
            is_structured?: boolean | null;
            /**
             * Format: int64
             * @description Milliseconds.
             */
            ms: number;
            /** @description Whether the judge answered. */
            ok: boolean;
        };
        /** @description A judge of a project; figures are those of thirty days */
        JudgeShown: {
            /**
             * Format: double
             * @description Absent without grades.
             */
            error_rate?: number | null;
            /** @description Whether it is the default judge. */
            is_default: boolean;
            /** @description Whether the server has the API key of the vendor. */
            key: components["schemas"]["JudgeKey"];
            /**
             * @description The day of the last call that was paid, of UTC.
             * @example 2026-03-20
             */
            last_used?: string | null;
            /** @description Monitors that name it. */
            monitors: string[];
            /**
             * Format: int64
             * @description Number of paid calls in the last 30 days.
             */
            n_calls: number;
            /**
             * Format: int64
             * @description Number of failed calls.
             */
            n_errors: number;
            /**
             * Format: int64
             * @description Answers to criteria of traces.
             */
            n_grades: number;
            /**
             * @description With its vendor.
             * @example openai/gpt-5-mini
             */
            name: string;
            price?: components["schemas"]["TokenPrice"] | null;
            /** @description Reason, if it cannot be called. */
            problem?: string | null;
            /**
             * Format: double
             * @description Dollars.
             */
            spent: number;
            /** @description Vendor of the model, such as `openai`. */
            vendor: string;
        };
        /** @description The answer to one line. */
        LineAnswer: {
            /** @description Why the line was refused; `null` if it was stored. */
            detail?: string | null;
            /** @description Of the trace, where there is one. */
            id?: string | null;
            /** @description From 1. */
            line: number;
            /** @description Whether the line was stored. */
            status: components["schemas"]["LineStatus"];
        };
        /**
         * @description Result of one line.
         * @enum {string}
         */
        LineStatus: "accepted" | "repeated" | "conflict" | "error";
        /** @description A trace with the decisions and newest verdicts of monitors */
        ListedTrace: components["schemas"]["TraceSummary"] & {
            /** @description One per monitor of its agent; none before the trace is finished. */
            decisions: components["schemas"]["StandingDecision"][];
            /** @description The newest of each monitor. */
            verdicts: components["schemas"]["NewestVerdict"][];
        };
        MatrixCell: {
            /** @description Those that passed or failed. */
            decided: number;
            /** @description 95 % confidence interval of the mean score; `null` with fewer than two scores. */
            interval?: [
                number,
                number
            ] | null;
            /** @description Number of results, including those without a verdict. */
            n: number;
            /** @description 95 % confidence interval of the pass rate; `null` if nothing was decided. */
            pass_interval?: [
                number,
                number
            ] | null;
            /**
             * Format: double
             * @description Of those that were decided.
             */
            pass_rate?: number | null;
            /** @description Number of results that passed. */
            passed: number;
            /**
             * Format: double
             * @description The mean, over those that have a score.
             */
            score?: number | null;
        };
        MatrixKey: {
            /** @description Name of the field, as `rows` and `columns` take it. */
            key: string;
            /** @description Name of the field in words, such as `order type` for `order_type`. */
            label: string;
            /** @description Number of different values of the field in this run. */
            n_values: number;
        };
        MemberView: {
            /**
             * @description Id of the member's account.
             * @example acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            account: string;
            /** @description E-mail address of the member. */
            email: string;
            /** @description Name of the member. */
            name: string;
            /** @description `owner`, `member`, `viewer` or `annotator`. */
            role: string;
        };
        /** @description Monthly budget of a monitor, in the currency of its file */
        MonitorBudgetView: {
            /**
             * Format: double
             * @description Most that the monitor may spend in a month, in `currency`.
             */
            amount: number;
            /**
             * @description Code of the currency (ISO 4217).
             * @example GBP
             */
            currency: string;
            /**
             * Format: double
             * @description Exchange rate to US dollars, where amounts in dollars are shown next to the budget.
             */
            rate?: number | null;
        };
        MonitorChange: {
            /** @description Paused: nothing is judged; sampled traces wait. */
            paused: boolean;
            /** @description Why it is paused. */
            reason?: string | null;
        };
        MonitorCheckRequest: {
            /**
             * @description A file with one monitor.
             * @example agent: support
             *     rubric: {criteria: [{name: kind, description: It is kind.}]}
             */
            source: string;
        };
        /** @description Estimates of a monitor for the last 30 days, by its current version */
        MonitorFigures: {
            /** @description The same figures for each agent. */
            agents: components["schemas"]["AgentFigures"][];
            /**
             * Format: double
             * @description Among the judged traces.
             */
            error_rate?: number | null;
            /** @description Whose scores these are: one model, or several, whose scores are averaged. */
            judge?: string | null;
            pass_rate?: components["schemas"]["Figure"] | null;
            score?: components["schemas"]["Figure"] | null;
            /**
             * Format: double
             * @description Dollars that its judges cost this month.
             */
            spent_this_month: number;
            /** @description Number of finished traces per state, under any version. */
            states: {
                [key: string]: number;
            };
        };
        /** @description One judge's figures day by day, under one rubric version */
        MonitorTrend: {
            /** @description Name of the criterion; `null` for the overall score. */
            criterion?: string | null;
            /** @description Name of the judge; several are averaged. */
            judge: string;
            /** @description One point for each day, oldest first. */
            points: components["schemas"]["MonitorTrendPoint"][];
            /** @description Id of the rubric version. */
            rubric_version: string;
            scale?: components["schemas"]["ScoreScale"] | null;
        };
        MonitorTrendPoint: {
            /** @description Its first moment, in UTC. */
            day: string;
            /** @description 95 % confidence interval of the mean of the day; `null` if there is no mean. */
            interval?: [
                number,
                number
            ] | null;
            /**
             * Format: double
             * @description Of this day alone; absent where it cannot be estimated.
             */
            mean?: number | null;
            /** @description Scores. */
            n: number;
            /** @description Finished traces of monitored agents. */
            n_seen: number;
            /** @description Confidence sequence of the mean over all days so far; absent if all criteria are requested. */
            sequence?: [
                number,
                number
            ] | null;
        };
        /** @description A monitor and its settings */
        MonitorView: {
            /** @description Names of the agents whose traces are judged. */
            agents: string[];
            budget?: components["schemas"]["MonitorBudgetView"] | null;
            /** @description When the monitor was created, in UTC (RFC 3339). */
            created: string;
            /** @description Names of the criteria of its rubric. */
            criteria: string[];
            /**
             * Format: double
             * @description Largest accepted disagreement of judges, from 0 to 1.
             */
            disagreement_margin: number;
            figures?: components["schemas"]["MonitorFigures"] | null;
            /**
             * @description Id of the monitor.
             * @example mon_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Names of its judges. */
            judges: string[];
            /** @description Name of the monitor. */
            name: string;
            /**
             * Format: double
             * @description On 0 to 1.
             */
            pass_mark: number;
            /** @description Why it judges nothing at the moment. */
            paused?: string | null;
            /** @description When the monitor was removed. */
            removed?: string | null;
            /**
             * Format: double
             * @description Share of finished traces that is judged; failed ones always are.
             */
            sample_rate: number;
            /** @description The version in use. */
            version: components["schemas"]["VersionView"];
        };
        MoreItems: {
            /** @description Rows of data, as in the data files of an annotation task. */
            rows?: Record<string, never>[] | null;
            traces?: components["schemas"]["TaskTraces"] | null;
        };
        /** @description A mean score on the scale that the rubric's author uses */
        NativeScore: {
            /** @description 95 %. */
            interval: [
                number,
                number
            ];
            /**
             * Format: double
             * @description Highest value of the scale.
             */
            max: number;
            /**
             * Format: double
             * @description Mean on the scale.
             */
            mean: number;
            /**
             * Format: double
             * @description The ends of the scale.
             */
            min: number;
        };
        NewCap: {
            /**
             * Format: double
             * @description Monthly cap.
             */
            amount: number;
            /**
             * @description Currency code [default: GBP].
             * @example GBP
             */
            currency?: string | null;
            /**
             * Format: double
             * @description Exchange rate to USD [default: the server's].
             */
            rate?: number | null;
        };
        /** @description Which sides are compared */
        NewComparison: {
            /** @description First candidate. */
            a: components["schemas"]["Side"];
            /** @description Second candidate. */
            b: components["schemas"]["Side"];
            /** @description Without it, only the projected cost is returned. */
            confirmed?: boolean;
            /** @description Maximum number of pairs [default: 100]. */
            n?: number | null;
            /** @description Only traces that began then or later. */
            since?: string | null;
        };
        NewDatasetRequest: {
            /** @description What the dataset is for. */
            description?: string | null;
            /**
             * @description Up to 100 letters on one line.
             * @example support
             */
            name: string;
            /**
             * Format: double
             * @description Share of tasks whose cases are in the split `test` [default: 0.2].
             */
            test_share?: number | null;
        };
        /** @description Changes that make a new version */
        NewDatasetVersion: {
            /**
             * @description Id of an annotation task: its items, with the labels that people agreed on as `reference`.
             * @default null
             */
            annotation_task?: string | null;
            /**
             * Format: int64
             * @description The newest version that you know, 0 before the first. If there is a newer one, nothing is written [default: not
             *     checked].
             * @default null
             */
            base?: number | null;
            /**
             * @description Whether a dataset that does not exist is created, once the cases were read; otherwise it is an error.
             * @default false
             */
            create?: boolean;
            /**
             * @description Up to 1000 characters.
             * @default null
             */
            note?: string | null;
            /**
             * @description Records, as `jurist grade` reads them. A record with the key of a case replaces it.
             * @default []
             */
            records?: Record<string, never>[];
            /**
             * @description Keys of cases.
             * @default []
             */
            remove?: string[];
            /**
             * @description The cases of the request are all cases of the new version.
             * @default false
             */
            replace?: boolean;
            /**
             * @description Name of a stored rubric, or id of a version, for all cases of the request [default: of a trace, the rubric of
             *     its newest failed verdict; of a task, its rubric].
             * @default null
             */
            rubric?: string | null;
            /** @description Traces, as `GET /traces` takes them; `limit` is from 1 to 10000 [default: 1000]. */
            trace_filter?: Record<string, never> | null;
            /**
             * @description Ids of traces, up to 10000.
             * @default []
             */
            traces?: string[];
        };
        NewDisputeDecision: {
            /** @description `guideline`, `mistake`, `ambiguous` or `other`. */
            cause?: string | null;
            /** @description The value is an answer of the question; of several labels a list. */
            rating: Record<string, never>;
            /** @description Reason of the decision. */
            why?: string | null;
        };
        NewMonitor: {
            /**
             * @description A file with one monitor, as it is written.
             * @example agent: support
             *     rubric: {criteria: [{name: kind, description: It is kind.}]}
             */
            source: string;
        };
        NewPassword: {
            /** @description New password. */
            new: string;
            /** @description Current password. */
            old: string;
        };
        NewProject: {
            /** @description Name of the project, unique on the server. */
            name: string;
        };
        /** @description Which traces to re-score */
        NewRescore: {
            /** @description Without it, only the projected cost is returned. */
            confirmed?: boolean;
            /** @description Traces on which the judge failed under the current version, instead of traces of earlier versions. */
            errors?: boolean;
            /** @description Those for which there was no money, by the version in use, instead of those of earlier versions. */
            over_budget?: boolean;
            /** @description Size of a random sample of them, to compare two versions. */
            overlap?: number | null;
            /**
             * @description Traces decided since that day [default: all stored traces].
             * @example 2026-03-01T00:00:00Z
             */
            since?: string | null;
        };
        NewRubric: {
            /**
             * @description Name of the rubric, unique in the project.
             * @example greeting
             */
            name: string;
            /**
             * @description A file with one rubric, in any dialect.
             * @example criteria: [{name: greets, description: It greets.}]
             */
            source: string;
        };
        /** @description A suite with everything that it is read from, and how it is graded. */
        NewRun: {
            /** @description The model that answers where a case has no answer. */
            agent?: string | null;
            /** @description `native`, `agentv`, `potato` or `monitor`, instead of looking at the keys of the file. */
            dialect?: string | null;
            /**
             * @description Texts by their path in the project.
             * @example {
             *       "suite.yaml": "evals: [{name: greets, response: Hello!, rubric: It greets.}]"
             *     }
             */
            files: {
                [key: string]: string;
            };
            /** @description Only cases with this in their name. */
            filter?: string | null;
            /** @description Instead of the judges that the files name. */
            judge?: string | null;
            /**
             * Format: double
             * @description Dollars.
             */
            max_cost?: number | null;
            /** @description Only units of these names. */
            names?: string[] | null;
            /** @description Branch, commit, author, tags and CI job. */
            provenance?: components["schemas"]["RunProvenanceView"];
            /** @description Whether cached replies are used. */
            replies?: components["schemas"]["ReplyCaching"];
            /** @description Cases with grader errors are graded once more. */
            retry_errors?: boolean;
            /**
             * Format: int64
             * @description Random seed.
             */
            seed?: number;
            shard?: components["schemas"]["Shard"] | null;
            /**
             * @description The suite's path; one of `files`.
             * @example suite.yaml
             */
            suite: string;
            /** @description Only cases with one of these tags. */
            tags?: string[];
            /** @description Values of `{{ env.X }}` in the files. */
            variables?: {
                [key: string]: string;
            };
        };
        /** @description A task from a file, from a rubric over traces, or to verify a judge's answers */
        NewTaskRequest: {
            /** @description The path of an annotation file; one of `files`. */
            config?: string | null;
            /** @description Texts by their path. */
            files?: {
                [key: string]: string;
            };
            /** @description Name of the task; that of the file by default. */
            name?: string | null;
            /** @description The name of a rubric, or the id of a version. */
            rubric?: string | null;
            /** @description As `jurist schema annotation` describes them. */
            settings?: Record<string, never> | null;
            traces?: components["schemas"]["TaskTraces"] | null;
            verify?: components["schemas"]["VerificationSource"] | null;
        };
        NewTokenRequest: {
            /**
             * Format: int32
             * @description Days until the token expires; it does not expire by default.
             */
            days?: number | null;
            /** @description Name of the token, for lists and the audit log. */
            name: string;
            /** @description Any of `ingest`, `read`, `annotate`, `write`, `manage`. */
            scopes: string[];
        };
        NewTrial: {
            /** @description Format of the rubric, such as `agentv` or `promptfoo`; found from its content by default. */
            dialect?: string | null;
            /** @description Instead of the judge that the file names, or the usual one. */
            judge?: string | null;
            /**
             * Format: double
             * @description Dollars that the run may cost.
             */
            max_cost?: number | null;
            /**
             * @description A file with one rubric or monitor, in any dialect.
             * @example criteria: [{name: greets, description: It greets.}]
             */
            source: string;
            /** @description Starts a run, which needs the scope `write`; without it, only the projected cost is returned. */
            spend?: boolean;
            /** @description Ids of traces. */
            traces: string[];
        };
        NewVersion: {
            /**
             * @description A file with one rubric, in any dialect.
             * @example criteria: [{name: greets, description: It greets by name.}]
             */
            source: string;
        };
        NewestVerdict: {
            /** @description By its name. */
            monitor?: string | null;
            /** @description Id of the rubric version. */
            rubric_version: string;
            /**
             * Format: double
             * @description On 0 to 1.
             */
            score?: number | null;
            /** @description pass, fail, error or deferred. */
            status: string;
            /** @description When the verdict was reached, in UTC (RFC 3339). */
            time: string;
        };
        /** @description The next item, or the reason why there is none */
        NextWork: components["schemas"]["WorkShown"] | components["schemas"]["NoWork"];
        NoWork: {
            /** @description Completion code for the crowd platform. */
            code?: string | null;
            /** @description Always `true`: there is no item now. */
            done: boolean;
            /** @description `finished`, `quota`, `closed` or `nothing_now`. */
            why: string;
        };
        /** @description Absent fields stay unchanged; `null` removes a value. */
        NotificationChange: {
            /** @description Addresses; `null` means the project's owners, an empty list means no e-mail. */
            mail?: string[] | null;
            quiet_hours?: components["schemas"]["QuietHours"] | null;
            /**
             * @description An address that gets signed requests. Set again, it gets a new secret.
             * @example https://hooks.example.org/jurist
             */
            webhook?: string | null;
        };
        NotificationSettingsView: {
            /** @description Whether this server can send e-mail at all. */
            can_mail: boolean;
            /** @description Addresses; `null` is the project's owners. */
            mail?: string[] | null;
            quiet_hours?: components["schemas"]["QuietHours"] | null;
            webhook?: components["schemas"]["WebhookShown"] | null;
        };
        /** @description Newer minus older, on 0 to 1 */
        Offset: {
            /** @description Absent for the overall score. */
            criterion?: string | null;
            /** @description Id of the earlier rubric version. */
            from_version: string;
            /** @description 95 % confidence interval of the mean difference. */
            interval: [
                number,
                number
            ];
            /** @description Name of the judge. */
            judge: string;
            /**
             * Format: double
             * @description Mean of newer score minus earlier score, from -1 to 1.
             */
            mean: number;
            /** @description Number of traces with a score from both versions. */
            n: number;
            scale?: components["schemas"]["ScoreScale"] | null;
        };
        /** @description A project with the caller's permissions. */
        OpenProject: {
            /**
             * @description Id of the project.
             * @example prj_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Name of the project. */
            name: string;
            /** @description Any of `ingest`, `read`, `annotate`, `write`, `manage`. */
            scopes: string[];
        };
        /** @description An item in your list */
        OwnItem: {
            /**
             * @description Id of the assignment.
             * @example asg_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            assignment: string;
            /** @description `assigned` or `submitted`. */
            state: string;
        };
        /** @description Progress of an annotator */
        OwnProgress: {
            /**
             * Format: int64
             * @description Number of items that the annotator has answered, gold and attention items included.
             */
            done: number;
            /**
             * Format: int64
             * @description How many they may still be given.
             */
            left?: number | null;
        };
        PartShown: {
            budget?: components["schemas"]["MonitorBudgetView"] | null;
            /**
             * Format: int64
             * @description Number of calls to models.
             */
            n_calls: number;
            /** @description Name of the purpose, monitor, run or judge. */
            name: string;
            /**
             * Format: double
             * @description US dollars.
             */
            spent: number;
        };
        PictureTable: {
            /** @description Heads of the columns. */
            columns: string[];
            /** @description Cells, row by row. */
            rows: string[][];
        };
        PlacedResult: {
            /** @description In the plan, from 0. */
            place: number;
            /** @description As `run.schema.json` describes it. */
            result: Record<string, never>;
        };
        PositionShown: {
            /** @description Number of comparisons that the answer in the first position won. */
            first_wins: number;
            /** @description 95 % confidence interval of the rate. */
            interval: [
                number,
                number
            ];
            /** @description Cases that one of two won; several judges of one are one. */
            n: number;
            /**
             * Format: double
             * @description p-value of the difference from 0.5.
             */
            p: number;
            /**
             * Format: double
             * @description 0.5 without position bias.
             */
            rate: number;
        };
        /** @description A rubric to begin with */
        PresetShown: {
            /** @description What the preset is for. */
            description: string;
            /**
             * @description Name of the preset.
             * @example safety
             */
            name: string;
            /** @description As one would have written it. */
            source: string;
        };
        /** @description The body of every answer that is an error. */
        Problem: {
            /** @description What is wrong and how to fix it. */
            detail: string;
            /** @description Id of the request, also in the header `X-Request-Id` and in the server's log. */
            request_id?: string | null;
            /**
             * Format: int32
             * @description HTTP status code.
             */
            status: number;
            /** @description Kind of problem. */
            title: string;
        };
        ProjectView: {
            /** @description When the project was created, in UTC (RFC 3339). */
            created: string;
            /**
             * @description Id of the project.
             * @example prj_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Name of the project. */
            name: string;
            /**
             * Format: int32
             * @description Days after which the contents of traces are erased; absent means never. A setting of the server:
             *     `--retention`.
             */
            retention_days?: number | null;
        };
        PromptMessage: {
            /** @description Text of the message. */
            content: string;
            /** @description system or user. */
            role: string;
        };
        PromptPreviewRequest: {
            /** @description Format of the file, such as `agentv` or `promptfoo`; found from its content by default. */
            dialect?: string | null;
            /**
             * @description A file with one rubric or monitor, in any dialect.
             * @example criteria: [{name: greets, description: It greets.}]
             */
            source: string;
            /** @description Candidate to grade [default: placeholder text]. */
            trace?: string | null;
        };
        /** @description One judge call, or the reason why there is none */
        PromptView: {
            /** @description Criteria of the call: several if a monitor asks them together. */
            criteria: string[];
            /** @description The first of `criteria`. */
            criterion: string;
            /** @description The JSON Schema that the reply must match. */
            form?: Record<string, never> | null;
            /** @description Empty if no judge is called. */
            messages: components["schemas"]["PromptMessage"][];
            /** @description Reason why no judge is called, such as a check that decides. */
            unasked?: string | null;
        };
        /** @description Judge prompts */
        Prompts: {
            /** @description One for each call, in the order of the rubric. */
            prompts: components["schemas"]["PromptView"][];
        };
        /** @description How much of a run has arrived */
        PushProgress: {
            /** @description Id of the run. */
            id: string;
            /** @description Whether it has arrived as a whole. */
            is_ended: boolean;
            /** @description How many of the results of this request had secrets, which were replaced. */
            n_redacted: number;
            /**
             * Format: int64
             * @description Number of results that the server has.
             */
            n_results: number;
        };
        PushedResult: {
            /** @description In the plan, from 0. */
            place: number;
            /** @description As `run.schema.json` describes it. */
            result: Record<string, never>;
        };
        /** @description Results of a run that was graded elsewhere */
        PushedResults: {
            /** @description Up to 500. */
            items: components["schemas"]["PushedResult"][];
        };
        /** @description A run that was graded elsewhere, without its results */
        PushedRun: {
            /**
             * Format: int32
             * @description Version of `run.schema.json`.
             */
            format: number;
            /** @description Where the run comes from: branch, commit, author and tags. */
            provenance?: components["schemas"]["RunProvenanceView"];
            /** @description The canonical form of every rubric used, by version. */
            rubrics: {
                [key: string]: Record<string, never>;
            };
            /**
             * Format: int64
             * @description Random seed of the run.
             */
            seed: number;
            /** @description When the run started, in UTC (RFC 3339). */
            started: string;
            /** @description Name of the suite; `null` if it has none. */
            suite?: string | null;
        };
        /** @description Start and end time of day in the recipients' time zone. */
        QuietHours: {
            /**
             * @description Beginning in the given time zone, such as `22:00`.
             * @example 22:00
             */
            from: string;
            /**
             * @description Before `from`, it is on the next day.
             * @example 07:00
             */
            until: string;
            /**
             * @description By name, or an offset such as `+02:00`.
             * @example Europe/London
             */
            zone: string;
        };
        RankedSide: {
            /**
             * Format: double
             * @description On the scale of chess, around 1000.
             */
            elo: number;
            /** @description Of 95 %. */
            interval?: [
                number,
                number
            ] | null;
            /** @description Comparisons that it was part of. */
            n: number;
            /** @description From 1. */
            rank: number;
            /** @description Name of the candidate. */
            side: string;
            /**
             * Format: double
             * @description Log-odds; those of all sides sum to zero.
             */
            strength: number;
        };
        /** @description Ranking from pairwise comparisons */
        Ranks: {
            /** @description Strengths after Bradley and Terry, the strongest first. */
            bradley_terry?: components["schemas"]["RankedSide"][] | null;
            /** @description Comparisons with a judge error; they are excluded. */
            errors: number;
            /** @description All judges of these comparisons. */
            judges: string[];
            /** @description Comparisons with a result. */
            n: number;
            picture?: components["schemas"]["ChartView"] | null;
            position?: components["schemas"]["PositionShown"] | null;
            /** @description The share of points that the row takes from the column, a tie being half a point; null if they never met. */
            rates: (number | null)[][];
            /** @description The strongest first; by name if there are no strengths. */
            sides: string[];
            strengths?: components["schemas"]["ChartView"] | null;
            /** @description Number of ties. */
            ties: number;
            /** @description Why there are no strengths. */
            undefined?: string | null;
            /** @description How often the side of the row won against that of the column. */
            wins: number[][];
        };
        /** @description An annotator's mean rating from 0 to 1, in the first and second half of their work */
        RatingDrift: {
            /**
             * Format: double
             * @description Mean rating in the first half of the work, from 0 to 1.
             */
            first: number;
            /**
             * Format: double
             * @description Mean rating in the second half of the work, from 0 to 1.
             */
            second: number;
        };
        /** @description A problem or a piece of advice */
        Remark: {
            /** @description As in the list of diagnostics, such as `unknown-key`. */
            code: string;
            /** @description In characters, from 1. */
            column: number;
            /** @description Column behind the last character, from 1. */
            end_column: number;
            /** @description End: the first character after it. */
            end_line: number;
            /** @description Suggested fix. */
            help?: string | null;
            /** @description A few words for the place itself. */
            label?: string | null;
            /** @description From 1. */
            line: number;
            /** @description What is wrong, and what would be right. */
            message: string;
            /** @description Note, such as the allowed values. */
            notes: string[];
            /** @description Suggested replacement. */
            replacement?: string | null;
            /** @description How severe it is. */
            severity: components["schemas"]["RemarkSeverity"];
        };
        /** @enum {string} */
        RemarkSeverity: "error" | "warning" | "advice";
        /** @enum {string} */
        ReplyCaching: "use" | "refresh" | "off";
        /** @description Cases to run again */
        RerunRequest: {
            /** @description Names of cases of the run, up to 1,000. */
            cases: string[];
        };
        /** @description Number of traces and projected cost of re-scoring */
        RescorePlan: {
            budget?: components["schemas"]["MonitorBudgetView"] | null;
            /**
             * Format: double
             * @description Dollars that are left of the budget of this month: the project's cap or the monitor's own budget, whichever has
             *     less left. Absent without a budget.
             */
            budget_left?: number | null;
            /** @description The re-scoring, once started; absent if failed calls are only repeated. */
            id?: string | null;
            /** @description Whether the re-score has started. */
            is_begun: boolean;
            /** @description Calls of judges, at least. */
            n_calls: number;
            /** @description Number of traces that could be re-scored. */
            n_of: number;
            /** @description Traces that are re-scored. */
            n_traces: number;
            /**
             * Format: double
             * @description Dollars, about; absent where a judge's price is not known.
             */
            price?: number | null;
            /** @description The version that judges. */
            rubric_version: string;
        };
        /** @description A re-scoring and its results */
        RescoreView: {
            /** @description When it was started, in UTC (RFC 3339). */
            created: string;
            /** @description Id of the re-score. */
            id: string;
            /**
             * Format: int64
             * @description Number of traces that the judge could not grade.
             */
            n_errors: number;
            /** @description Of them, how many have been judged. */
            n_scored: number;
            /**
             * Format: int64
             * @description Number of traces that are re-scored.
             */
            n_traces: number;
            /**
             * Format: int64
             * @description Of them, how many are still to be judged.
             */
            n_waiting: number;
            /** @description Why those wait, or why some will not be judged. */
            note?: string | null;
            /** @description Difference from each earlier version, on the same traces. */
            offsets: components["schemas"]["Offset"][];
            /** @description Id of the rubric version that judges. */
            rubric_version: string;
            scale?: components["schemas"]["ScoreScale"] | null;
            score?: components["schemas"]["TrafficView"] | null;
            /**
             * Format: double
             * @description Sampled share of traces.
             */
            share: number;
            /** @description Beginning of the time range, in UTC (RFC 3339). */
            since: string;
            /** @description End of the time range, in UTC (RFC 3339). */
            until: string;
        };
        Reward: {
            /** @description Contribution of each graded criterion to the score. */
            criteria: {
                [key: string]: number;
            };
            /** @description Why, a line per criterion that has a reason or an error. */
            reasons: string[];
            /**
             * Format: double
             * @description On 0 to 1; 0 if a gate failed. Absent where a grader failed or was not asked: such a completion has no reward, which is not 0.
             */
            score?: number | null;
            /**
             * @description pass, fail, error or deferred.
             * @example pass
             */
            status: string;
        };
        RewardCompletion: {
            /**
             * @description Text that is graded.
             * @example Hello!
             */
            completion: string;
            /**
             * @description Prompt that the text answers.
             * @example Say hello.
             */
            prompt?: string;
            /** @description A reference answer, for all completions of a request or for none. */
            reference?: string | null;
        };
        /** @description Completions to grade by one rubric */
        RewardRequest: {
            /** @description Texts to grade, in the order of the scores. */
            completions: components["schemas"]["RewardCompletion"][];
            /** @description Format of the rubric, such as `agentv` or `promptfoo`; found from its content by default. */
            dialect?: string | null;
            /** @description Instead of the judge that the file names, or the usual one. */
            judge?: string | null;
            /**
             * Format: double
             * @description Dollars that the request may cost.
             */
            max_cost?: number | null;
            /**
             * @description A file with one rubric, in any dialect.
             * @example criteria: [{name: greets, description: It greets.}]
             */
            rubric: string;
        };
        /** @description Scores in the order of the completions */
        RewardScores: {
            /**
             * Format: double
             * @description Dollars; absent where a price is not known.
             */
            cost?: number | null;
            /** @description One for each completion, in their order. */
            rewards: components["schemas"]["Reward"][];
        };
        RubricChange: {
            /** @description Whether the rubric is archived: hidden in lists, and kept for its grades. */
            archived: boolean;
        };
        RubricCheckRequest: {
            /** @description `native`, `agentv`, `potato` or `monitor`, instead of looking at the keys of the file. */
            dialect?: string | null;
            /**
             * @description A file with one rubric, in any dialect.
             * @example criteria: [{name: greets, description: It greets.}]
             */
            source: string;
        };
        RubricDifference: {
            /** @description Old and new value of a change; null means the default. */
            from?: string | null;
            /** @description What was done: `added`, `removed`, `changed` or `reordered`. */
            kind: components["schemas"]["DifferenceKind"];
            /** @description All of it in words, as `jurist diff` prints it. */
            sentence: string;
            /** @description New value of a change; `null` means the default. */
            to?: string | null;
            /** @description Such as: criterion `kind` weight. */
            what: string;
        };
        RubricSummary: {
            /** @description When it was archived. */
            archived?: string | null;
            /** @description When the rubric was created, in UTC (RFC 3339). */
            created: string;
            /**
             * @description Id of the rubric.
             * @example rub_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Name of the rubric. */
            name: string;
            /** @description The version that was last put. */
            newest?: string | null;
        };
        RubricVersionView: {
            /** @description Canonical form of the rubric, from which its hash is computed. */
            canonical: Record<string, never>;
            /** @description When the version was created, in UTC (RFC 3339). */
            created: string;
            /** @description Hash of its canonical form: equal rubrics have equal hashes. */
            hash: string;
            /**
             * @description Id of the version.
             * @example rubv_local_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Id of the rubric. */
            rubric: string;
            /** @description As it was written. */
            source?: string | null;
        };
        /** @description The answer of a case */
        RunAnswer: {
            /** @description Its first 1,000 characters; absent if the run does not hold it. */
            answer?: string | null;
            /** @description Hash of the whole answer, to compare answers; absent if the run does not hold it. */
            answer_hash?: string | null;
            /** @description Whether the answer is longer. */
            is_cut: boolean;
            /** @description In the plan, from 0. */
            place: number;
        };
        RunAnswerPage: {
            /** @description Answers, in the order of the plan. */
            items: components["schemas"]["RunAnswer"][];
            /** @description Send it as `after`; absent at the end. */
            next?: number | null;
        };
        /** @description Cases that changed between two runs */
        RunChangePage: {
            /** @description How many cases each filter accepts. */
            counts: components["schemas"]["ChangeCountsView"];
            /** @description What got worse first, then what is undecided, then what got better. */
            items: components["schemas"]["CaseChangeView"][];
            /** @description How many cases this filter accepts, with this in their name. */
            n_found: number;
            /** @description Send it as `after`; absent at the end. */
            next?: number | null;
        };
        /** @description Comparison of two runs, case by case, as `jurist compare --format json` prints it */
        RunComparison: {
            /** @description Id of the earlier run. */
            before: string;
            /** @description Other differences between the runs that may explain a change. */
            caveats: string[];
            /** @description The worst first. */
            changed: components["schemas"]["ChangedCase"][];
            /** @description Their p-values hold for all of them together. */
            criteria: {
                [key: string]: components["schemas"]["RunDifference"];
            };
            forest?: components["schemas"]["ChartView"] | null;
            /** @description Cases that both decided with the same rubric. */
            n_cases: number;
            /** @description Parts of the names in this comparison, by name; a name that is as it is written in the suite is left out. */
            names: {
                [key: string]: components["schemas"]["CaseNameView"];
            };
            /** @description Names of cases that only the later run has. */
            only_after: string[];
            /** @description Names of cases that only the earlier run has. */
            only_before: string[];
            pass_rate?: components["schemas"]["RunDifference"] | null;
            score?: components["schemas"]["RunDifference"] | null;
            /** @description Cases that at least one of them did not decide. */
            undecided: string[];
        };
        /** @description The mean of each criterion of a run */
        RunCriteria: {
            /** @description In the order in which they appear in the run. */
            criteria: components["schemas"]["CriterionMean"][];
        };
        /** @description The difference of two means */
        RunDifference: {
            /**
             * Format: double
             * @description Mean of the cases in the later run, from 0 to 1.
             */
            after: number;
            /**
             * Format: double
             * @description Mean of the cases in the earlier run, from 0 to 1.
             */
            before: number;
            /**
             * Format: double
             * @description Later minus earlier, from -1 to 1.
             */
            difference: number;
            /** @description Of 95 %; absent for a single case. */
            interval?: [
                number,
                number
            ] | null;
            /** @description Whether the difference is significant (95 %). */
            is_shown: boolean;
            /** @description Independent cases. */
            n: number;
            /**
             * Format: double
             * @description p-value of a sign-flip permutation test over cases, from 0 to 1.
             */
            p: number;
            /** @description Conclusion as a sentence. */
            sentence: string;
            /**
             * Format: double
             * @description From case to case, the standard deviation of the differences.
             */
            spread: number;
        };
        /** @description Runs of a suite over time */
        RunHistory: {
            /** @description Branches of the suite's runs, the one with the newest run first. */
            branches: string[];
            /** @description Runs that have ended, the oldest first. */
            points: components["schemas"]["HistoryPoint"][];
            /** @description Absent where there are no runs. */
            suite?: string | null;
            /** @description Suites that have runs, the one with the newest run first. */
            suites: string[];
        };
        RunInFull: components["schemas"]["RunLine"] & {
            /**
             * Format: int32
             * @description Version of the format of stored results.
             */
            format: number;
            /**
             * Format: int64
             * @description Number of results so far.
             */
            n_results: number;
            /**
             * Format: int64
             * @description How many results there will be; absent for runs that were not submitted.
             */
            n_units?: number | null;
            /** @description Cases that were not graded, with reason and remedy; absent if all were graded. */
            not_graded?: string | null;
            /** @description 95 % confidence interval of the pass rate; absent if no case was decided. */
            pass_rate_interval?: [
                number,
                number
            ] | null;
            /** @description The canonical form of every rubric used, by version. */
            rubrics: {
                [key: string]: Record<string, never>;
            };
            /**
             * Format: int64
             * @description Random seed of the run.
             */
            seed: number;
        };
        /** @description The caller's label of a case */
        RunLabelEntry: {
            /** @description Up to 2,000 characters. */
            comment?: string;
            /** @description Whether the case passes; without it, the caller's label is removed. */
            is_passed?: boolean | null;
            /** @description Place of the case in the plan, from 0. */
            place: number;
        };
        RunLabelPage: {
            /** @description Labels, in the order of the plan. */
            items: components["schemas"]["RunLabelView"][];
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        /** @description Whether a case passes, as a person sees it */
        RunLabelView: {
            /** @description Name of the author; absent on a server without accounts. */
            author?: string | null;
            /** @description Name of the case. */
            case: string;
            /** @description The author's reason; empty if there is none. */
            comment: string;
            /** @description Whether the caller is the author, and may change it. */
            is_own: boolean;
            /** @description Whether the case passes. */
            is_passed: boolean;
            /** @description Place of the case in the plan, from 0. */
            place: number;
            /** @description When the label was stored, in UTC (RFC 3339). */
            time: string;
        };
        /** @description A run without its results */
        RunLine: {
            /**
             * Format: double
             * @description Dollars, of results whose cost is known.
             */
            cost: number;
            /** @description Absent while the run is in progress. */
            ended?: string | null;
            /**
             * @description Id of the run.
             * @example run_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /**
             * Format: int64
             * @description Number of cases that are not graded yet.
             */
            n_deferred: number;
            /**
             * Format: int64
             * @description Number of cases that could not be graded. They are never scores.
             */
            n_error: number;
            /**
             * Format: int64
             * @description Number of cases that failed.
             */
            n_fail: number;
            /**
             * Format: int64
             * @description Number of cases that passed.
             */
            n_pass: number;
            /** @description Where the run comes from: branch, commit, author and tags. */
            provenance: components["schemas"]["RunProvenanceView"];
            scale?: components["schemas"]["ScoreScale"] | null;
            /**
             * Format: double
             * @description Mean over the results that have a score, from 0 to 1.
             */
            score?: number | null;
            /** @description When the run started, in UTC (RFC 3339). */
            started: string;
            /** @description Name of the suite; `null` if it has none. */
            suite?: string | null;
        };
        RunLines: {
            /** @description Runs, newest first. */
            items: components["schemas"]["RunLine"][];
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        /** @description A run in rows and columns */
        RunMatrix: {
            /** @description Row by row; null where there is no case. */
            cells: (components["schemas"]["MatrixCell"] | null)[][];
            /** @description Values of `columns_by`, in the order of the cells; empty if nothing differs. */
            columns: string[];
            /** @description Field of the columns; `null` if there is none. */
            columns_by?: string | null;
            /** @description Fields that can be an axis, the most useful first. */
            keys: components["schemas"]["MatrixKey"][];
            /** @description Values of `rows_by`, in the order of the cells. */
            rows: string[];
            /** @description Absent where nothing differs. */
            rows_by?: string | null;
        };
        /** @description Where a run comes from, as far as it is known */
        RunProvenanceView: {
            /** @description Author of the commit; absent if it is unknown. */
            author?: string | null;
            /**
             * @description Branch of the repository; absent if it is unknown.
             * @example main
             */
            branch?: string | null;
            /** @description The page of the CI job. */
            ci_url?: string | null;
            /** @description The full hash of the commit. */
            commit?: string | null;
            /** @description Up to 20. */
            tags?: string[];
        };
        RunResultPage: {
            /** @description Results in the order of the plan. */
            items: components["schemas"]["PlacedResult"][];
            /** @description Send it as `after`; absent at the end. */
            next?: number | null;
        };
        /** @description Cases that were tried several times */
        RunTrials: {
            /**
             * Format: double
             * @description Share of cases of which all did.
             */
            all?: number | null;
            /**
             * Format: double
             * @description Share of cases of which at least one trial passed.
             */
            any?: number | null;
            /** @description Flaky cases (some trials passed and some failed), sorted by how evenly they split. */
            cases: components["schemas"]["FlakyCase"][];
            /** @description The most trials of one case; 0 where nothing was tried twice. */
            k: number;
            /** @description Number of cases. */
            n_cases: number;
        };
        /** @description A run compared with others */
        RunsCompared: {
            /** @description Id of the later run. */
            after: string;
            /** @description One for each `before`, in their order. */
            comparisons: components["schemas"]["RunComparison"][];
            radar?: components["schemas"]["ChartView"] | null;
        };
        /** @description Ends of the scale on which authors want to see scores */
        ScoreScale: {
            /**
             * Format: double
             * @description What a score of 1 is on the scale.
             */
            max: number;
            /**
             * Format: double
             * @description What a score of 0 is on the scale.
             */
            min: number;
        };
        SentDraft: {
            /** @description As `jurist schema annotation` describes it. */
            draft: Record<string, never>;
            /**
             * Format: int64
             * @description The one that was last seen.
             */
            revision: number;
        };
        /** @enum {string} */
        SentKind: "start" | "event" | "finish";
        SentPiece: {
            /**
             * @description Of a start: `task`, `format`, `metadata`. Of an event: a message or step in any format. Of a finish:
             *     `status`, `failed`, `cost`, `usage`, `metadata`.
             */
            body?: Record<string, never>;
            /** @description Id of the piece within its trace; a repeated piece is stored once. */
            id: string;
            /** @description Kind of the piece. */
            kind: components["schemas"]["SentKind"];
            /**
             * Format: date-time
             * @description Time as RFC 3339 [default: now]. Events are read in this order.
             */
            time?: string | null;
        };
        /** @description The signed-in account and its projects. */
        SessionView: {
            account?: components["schemas"]["SignedInAccount"] | null;
            /** @description Projects that the account may open. */
            projects: components["schemas"]["OpenProject"][];
        };
        Shard: {
            /**
             * Format: int32
             * @description Number of parts.
             */
            of: number;
            /**
             * Format: int32
             * @description Number of this part, from 1.
             */
            part: number;
        };
        ShownCount: {
            /** @description The answer. */
            answer: string;
            /** @description How often it was given. */
            n: number;
        };
        /** @description Answers whose field has one value */
        ShownGroup: {
            /** @description Number of submitted answers with this value. */
            n_answers: number;
            /** @description Results of each question over these answers. */
            questions: components["schemas"]["ShownQuestion"][];
            /** @description Value of the field. */
            value: string;
        };
        /** @enum {string} */
        ShownKind: "criterion" | "overall" | "weighted_score" | "running_score" | "choice";
        /** @description Annotations of one question */
        ShownQuestion: {
            /** @description How often each answer was given, where answers are labels. */
            counts: components["schemas"]["ShownCount"][];
            /** @description 95 % confidence interval of the mean; items count once, however many people rated them. */
            interval?: [
                number,
                number
            ] | null;
            /** @description What the figures are: ratings, a computed score, or counts of answers. */
            kind: components["schemas"]["ShownKind"];
            /** @description Label of the question on pages. */
            label: string;
            /**
             * Format: double
             * @description In the units of the scale.
             */
            mean?: number | null;
            /** @description Number of annotators who could not tell. They are not part of the mean. */
            n_abstained: number;
            /** @description Number of answers that the question does not apply. They are not part of the mean. */
            n_not_applicable: number;
            /** @description Number of ratings. Each annotator of an item counts. */
            n_scored: number;
            /** @description Name of the criterion, or of the scheme if it has one question. */
            name: string;
            /** @description The ends of its scale, where answers are numbers. */
            scale?: [
                number,
                number
            ] | null;
            /** @description Name of the annotation scheme. */
            scheme: string;
        };
        /** @description Annotations of a task */
        ShownResults: {
            /** @description Fields for grouping. */
            fields: string[];
            /** @description By the value of the requested field. */
            groups: components["schemas"]["ShownGroup"][];
            /** @description Number of submitted answers of annotators who are not excluded. */
            n_answers: number;
            /** @description Number of items with an answer. */
            n_items: number;
            /** @description Number of annotators with an answer. */
            n_people: number;
            /** @description Over all annotations. */
            questions: components["schemas"]["ShownQuestion"][];
            radar?: components["schemas"]["ChartView"] | null;
        };
        /** @description One side of a comparison: an agent, or those of its traces whose metadata say so */
        Side: {
            /**
             * @description Name of the agent.
             * @example support
             */
            agent: string;
            /** @description Such as the version of the agent. */
            metadata?: Record<string, never>;
        };
        SignIn: {
            /** @description E-mail address of the account. */
            email: string;
            /** @description Password of the account. */
            password: string;
        };
        /** @description An account. */
        SignedInAccount: {
            /** @description E-mail address of the account. */
            email: string;
            /**
             * @description Id of the account.
             * @example acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description May do anything, in every project. */
            is_admin: boolean;
            /** @description Name of the account. */
            name: string;
        };
        /** @description A month of a project. Amounts are dollars. */
        SpendShown: {
            /**
             * Format: double
             * @description The part of `spent` for calls with unknown cost, counted at their maximum.
             */
            assumed: number;
            cap?: components["schemas"]["CapShown"] | null;
            /** @description Spend of each day that has any, oldest first. */
            days: components["schemas"]["DayShown"][];
            /**
             * Format: double
             * @description Elapsed share of the month, from 0 to 1.
             */
            elapsed: number;
            forecast?: components["schemas"]["ForecastShown"] | null;
            /** @description The dearest first. */
            judges: components["schemas"]["PartShown"][];
            /**
             * @description Of UTC.
             * @example 2026-03
             */
            month: string;
            /** @description Why there is no forecast. */
            no_forecast?: string | null;
            /** @description The dearest first. */
            purposes: components["schemas"]["PartShown"][];
            /**
             * Format: double
             * @description Reserved for calls in progress.
             */
            reserved: number;
            /**
             * Format: double
             * @description Spend of the month, in US dollars.
             */
            spent: number;
            /** @description Monitors by their name and runs by their id, the dearest first; at most fifty. */
            subjects: components["schemas"]["PartShown"][];
        };
        StandingDecision: {
            /** @description The same in four words: scored, error, pending or unscored. */
            judge_status: string;
            /** @description By its name. */
            monitor: string;
            /** @description Last note. */
            reason: string;
            /** @description sampled, sampled_out, filtered, nothing_to_judge, over_budget, overloaded, pending, scored, cached, stale or judge_error. */
            state: string;
        };
        StateCount: {
            /**
             * Format: int64
             * @description Number of traces.
             */
            n: number;
            /** @description State of a decision, such as `scored`. */
            state: string;
        };
        StratumView: {
            /** @description 95 % confidence interval of the mean; `null` if there is no mean. */
            interval?: [
                number,
                number
            ] | null;
            /**
             * Format: double
             * @description Mean score from 0 to 1; `null` if it cannot be estimated.
             */
            mean?: number | null;
            /** @description Number of scored traces. */
            n: number;
            /** @description Sampled, with a judge error. */
            n_errors: number;
            /** @description Traces that are known here. */
            n_seen: number;
            /** @description Sampled and not judged: waiting, over budget or overloaded. */
            n_unjudged: number;
            /** @description failed, expensive or other. */
            name: string;
            /** @description Why there is no mean. */
            not_estimable?: string | null;
            /**
             * Format: double
             * @description Estimated number of traces before sampling by the sender.
             */
            population: number;
        };
        SubmitAnswer: {
            feedback?: components["schemas"]["TrainingFeedback"] | null;
            /** @description Whether there may be a next item. */
            next: boolean;
            /** @description If it was too fast. */
            pace?: string | null;
        };
        /** @description A run that has just begun */
        SubmittedRunView: {
            /**
             * @description Id of the run.
             * @example run_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description Number of results that the run will have. */
            n_units: number;
            /**
             * @description Files and variables (`env.NAME`) in which secrets were replaced by `(redacted)` before anything was stored or
             *     graded.
             */
            redacted?: string[];
        };
        /** @description Sums over grades and verdicts; means are corrected for sampling */
        Tallies: {
            /** @description Sums of grades, by criterion and grader. */
            grades: components["schemas"]["GradeSum"][];
            /** @description Sums of verdicts. */
            verdicts: components["schemas"]["VerdictSum"][];
        };
        /** @description Agreement between people */
        TaskAgreement: {
            /** @description Agreement of all annotators on each criterion. */
            criteria: components["schemas"]["CriterionAgreement"][];
            /** @description Agreement of each judge with the annotators on each criterion. */
            judge: components["schemas"]["JudgeAgreement"][];
            /** @description Agreement of each pair of annotators on each criterion. */
            pairs: components["schemas"]["AnnotatorPairAgreement"][];
            /** @description Agreement of the others without each annotator, for each criterion. */
            people: components["schemas"]["AlphaWithoutPerson"][];
        };
        TaskChange: {
            /** @description Settings to change; others stay unchanged. `null` resets a setting to its default. */
            settings?: Record<string, never> | null;
            /** @description `open` or `closed`. */
            state?: string | null;
        };
        /** @description A task with its questions */
        TaskInFull: components["schemas"]["TaskLine"] & {
            /** @description As `jurist schema annotation` describes them. */
            schemes: Record<string, never>[];
            /** @description As `jurist schema annotation` describes them. */
            settings: Record<string, never>;
            /**
             * Format: int64
             * @description Its version, which increases when questions change.
             */
            version: number;
        };
        /** @description A task */
        TaskLine: {
            /** @description When the task was created, in UTC (RFC 3339). */
            created: string;
            /** @description Description of the task; `null` if it has none. */
            description?: string | null;
            /**
             * @description Id of the task.
             * @example ant_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /** @description What the caller may do with the task. */
            may: components["schemas"]["TaskPermissions"];
            /** @description Progress of the caller. */
            mine: components["schemas"]["OwnProgress"];
            /** @description Name of the task. */
            name: string;
            /** @description Progress of all annotators. */
            progress: components["schemas"]["TaskProgress"];
            /** @description `open` or `closed`. */
            state: string;
        };
        TaskLines: {
            /** @description Tasks that the caller may see. */
            items: components["schemas"]["TaskLine"][];
        };
        /** @description Invitation links for annotators */
        TaskLinks: {
            /** @description Link for crowd platforms, which fill in the id; `null` if the setting `crowd` of the task is off. */
            crowd_url?: string | null;
            /** @description Link for people, who enter their name. */
            url: string;
        };
        TaskName: {
            /** @description Description of the task; `null` if it has none. */
            description?: string | null;
            /** @description Id of the task. */
            id: string;
            /** @description Name of the task. */
            name: string;
        };
        TaskPermissions: {
            /** @description Whether the caller may answer items. */
            annotate: boolean;
            /** @description Whether the caller may see answers and change the task. */
            manage: boolean;
        };
        TaskProgress: {
            /**
             * Format: int64
             * @description Number of items that have the answers that they need.
             */
            n_done: number;
            /**
             * Format: int64
             * @description Number of items, without training, gold and attention items.
             */
            n_items: number;
            /**
             * Format: int64
             * @description Number of submitted answers to these items.
             */
            n_submitted: number;
            /**
             * Format: int64
             * @description Number of answers that the items need; an item that every annotator answers needs one.
             */
            n_wanted: number;
        };
        /** @description Which traces */
        TaskTraces: string[] | {
            [key: string]: unknown;
        };
        /** @description Whose token it is, also if it was made with another token of theirs. */
        TokenMaker: {
            /**
             * @description Id of the account.
             * @example acc_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            account: string;
            /** @description Name of the account. */
            name: string;
        };
        TokenPrice: {
            /**
             * Format: double
             * @description US dollars for a million tokens of the prompt that the vendor has cached.
             */
            cached: number;
            /**
             * Format: double
             * @description US dollars for a million tokens of the prompt.
             */
            input: number;
            /**
             * Format: double
             * @description US dollars for a million tokens of the reply.
             */
            output: number;
        };
        TokenView: {
            /** @description When the token was created, in UTC (RFC 3339). */
            created: string;
            /** @description When the token expires, in UTC (RFC 3339); `null` if it does not. */
            expires?: string | null;
            /**
             * @description Id of the token.
             * @example tok_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            made_by?: components["schemas"]["TokenMaker"] | null;
            /** @description Name of the token. */
            name: string;
            /** @description When the token was revoked, in UTC (RFC 3339); `null` if it is valid. */
            revoked?: string | null;
            /** @description Scopes; limited by the current role of its owner at each use. */
            scopes: string[];
            /** @description When it was last seen, to the minute. */
            used?: string | null;
        };
        Tokens: {
            /**
             * Format: int64
             * @description Part of `input` that the provider had cached.
             */
            cached: number;
            /**
             * Format: int64
             * @description Tokens of prompts.
             */
            input: number;
            /**
             * Format: int64
             * @description Tokens of replies.
             */
            output: number;
        };
        /**
         * @description Numbers of traces by the values of four filters. Each ignores its own filter, so that it shows what another choice
         *     would find.
         */
        TraceCounts: {
            /** @description Traces by agent. */
            agent: components["schemas"]["ValueCount"][];
            /** @description `true` or `false`. */
            failed: components["schemas"]["ValueCount"][];
            /** @description Whether a count reached the limit. */
            is_limited: boolean;
            /** @description At most so many of the newest matching traces are counted. */
            limit: number;
            /** @description `true` or `false`. */
            scored: components["schemas"]["ValueCount"][];
            /** @description Traces by state. */
            state: components["schemas"]["ValueCount"][];
        };
        /** @description A complete trace in `trace`, or parts of one in `pieces`. */
        TraceEnvelope: {
            /** @description Which agent it is of. */
            agent?: string | null;
            /** @description Whether the agent failed, where its status does not say so. */
            failed?: boolean | null;
            /**
             * @description Trace format [default: detected].
             * @example openai-chat
             */
            format?: string | null;
            /**
             * @description Id of the trace; a repeated trace is stored once. Without an id, a complete trace gets the hash of its
             *     content.
             */
            id?: string | null;
            /** @description Metadata of the trace, such as the version of the agent. */
            metadata?: Record<string, never> | null;
            /** @description Parts of a trace, in any order and perhaps twice. */
            pieces?: components["schemas"]["SentPiece"][] | null;
            /** @description The conversation it belongs to. */
            session?: string | null;
            /**
             * Format: date-time
             * @description When it began, as RFC 3339.
             */
            time?: string | null;
            /** @description A complete trace in any format that `jurist trace` reads. */
            trace?: Record<string, never> | null;
        };
        /** @description Result of an upload. */
        TraceReceipt: {
            /** @description Id of the trace. */
            id: string;
            /** @description Pieces that are new. */
            n_new?: number | null;
            /** @description Pieces that were there already. */
            n_repeated?: number | null;
            /** @description Whether the piece was stored. */
            status: components["schemas"]["LineStatus"];
        };
        /** @description Metadata of a trace. */
        TraceSummary: {
            /** @description Name of the agent; `null` if the trace does not name one. */
            agent?: string | null;
            /**
             * Format: double
             * @description In US dollars.
             */
            cost?: number | null;
            /**
             * Format: double
             * @description Time from the first to the last step in milliseconds; `null` if it is unknown.
             */
            duration_ms?: number | null;
            /** @description When the trace was complete, in UTC (RFC 3339); `null` while it is open. */
            finished?: string | null;
            /** @description Id of the trace, as the sender named it. */
            id: string;
            /** @description The trace did not say its cost: it is computed from its tokens and the prices of its models. */
            is_cost_derived: boolean;
            /** @description Whether the agent ended with an error. */
            is_failed: boolean;
            /** @description You have not annotated it yet, so grades of judges and others are hidden. */
            is_withheld: boolean;
            /** @description Metadata of the sender. */
            metadata: unknown;
            /**
             * Format: int64
             * @description Number of pieces that arrived after the trace was first finished.
             */
            n_late: number;
            /**
             * Format: int64
             * @description Number of pieces in which the trace was sent.
             */
            n_pieces: number;
            /**
             * Format: int64
             * @description Number of steps.
             */
            n_steps: number;
            /**
             * Format: double
             * @description Sampling probability of the sender.
             */
            probability: number;
            /**
             * Format: int64
             * @description Number of revisions; 0 means that it was never assembled.
             */
            revision: number;
            /** @description Session that the trace belongs to; `null` if there is none. */
            session?: string | null;
            /** @description When the trace started, in UTC (RFC 3339). */
            started: string;
            /** @description `open`, `finished`, `reopened` or `erased`. */
            state: string;
            /** @description Status at the end, as the framework names it. */
            status?: string | null;
            /** @description Beginning of the task. */
            title?: string | null;
            /** @description Tokens of the model calls of the trace. */
            tokens: components["schemas"]["Tokens"];
            /** @description When the last piece was received. */
            updated: string;
        };
        TraceSummaryPage: {
            /** @description Traces of this page. */
            items: components["schemas"]["ListedTrace"][];
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        /** @description A mean over all traffic, from a sample */
        TrafficView: {
            /**
             * Format: double
             * @description The share of the population in strata that can be estimated; the mean is of these alone.
             */
            covered: number;
            /**
             * Format: double
             * @description Among the sampled and judged traces.
             */
            error_rate: number;
            /** @description Worst-case range: the mean if all judge errors scored 0, and if all scored 1. */
            if_errors_scored: [
                number,
                number
            ];
            /** @description 95 %. */
            interval: [
                number,
                number
            ];
            /**
             * Format: double
             * @description On 0 to 1; strata count by how many traces they have.
             */
            mean: number;
            /** @description Number of scored traces. */
            n: number;
            /**
             * Format: double
             * @description Effective sample size.
             */
            n_eff: number;
            /**
             * Format: double
             * @description Unweighted mean of the scored traces, which depends on the sampling.
             */
            naive: number;
            /**
             * Format: double
             * @description Estimated number of finished traces, before sampling by the sender.
             */
            population: number;
            /**
             * Format: double
             * @description Standard error of the mean.
             */
            se: number;
            /** @description The same figures for each stratum. */
            strata: components["schemas"]["StratumView"][];
            /** @description What weakens the estimate, one sentence each; empty if nothing does. */
            warnings: string[];
        };
        TrainingFeedback: {
            /** @description Whether all answers were correct. */
            right: boolean;
            /** @description Each answer with the expected one, as `jurist schema annotation` describes it under `AnswerCheck`. */
            rows: Record<string, never>[];
            /** @description Explanation of the expected answers; `null` if there is none. */
            why?: string | null;
        };
        /** @description Projected cost of trying a rubric, and the run if it was started */
        Trial: {
            /**
             * Format: int32
             * @description Calls of judges, at most.
             */
            calls: number;
            /**
             * Format: double
             * @description Dollars that it is likely to cost at most, without repairs; absent where a price is not known.
             */
            cost?: number | null;
            /**
             * @description The run, once it has begun.
             * @example run_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id?: string | null;
            /** @description Names of the judges that would be called. */
            judges: string[];
            /** @description Number of results that the run will have. */
            n_units: number;
            /** @description Calls and cost of each trace. */
            per_trace: components["schemas"]["TrialTrace"][];
        };
        TrialTrace: {
            /**
             * Format: int32
             * @description Number of calls of judges, at most.
             */
            calls: number;
            /**
             * Format: double
             * @description US dollars, at most; `null` if a price is unknown.
             */
            cost?: number | null;
            /**
             * Format: int32
             * @description Of a tree or of conditions, at least.
             */
            least_calls: number;
            /** @description Id of the trace. */
            trace: string;
        };
        /** @description A gate without an answer */
        UndecidedVerdictGate: {
            /** @description Absent for gates of the rubric itself. */
            criterion?: string | null;
            /** @description required, guard, min_score or strict. */
            gate: string;
            /** @description Why it could not be decided. */
            reason: string;
        };
        ValueCount: {
            /**
             * Format: int64
             * @description Number of traces with this value.
             */
            n: number;
            /** @description Absent for traces without it. */
            value?: string | null;
        };
        /** @description A condition that fails a verdict whatever the score */
        VerdictGate: {
            /** @description Absent for gates of the rubric itself. */
            criterion?: string | null;
            /** @description required, guard, min_score, strict, evidence, cannot_assess or on_error. */
            gate: string;
        };
        VerdictLine: {
            /** @description Agent that produced the candidate; `null` if it is unknown. */
            agent?: string | null;
            /** @description Id of the candidate, such as that of a trace or of a case. */
            candidate: string;
            /**
             * Format: double
             * @description Dollars.
             */
            cost?: number | null;
            /** @description Failed gates. */
            failed_gates: components["schemas"]["VerdictGate"][];
            /** @description Id of the verdict. */
            id: string;
            /** @description Id of the monitor; `null` for verdicts of runs. */
            monitor?: string | null;
            /**
             * Format: double
             * @description With which it was sampled.
             */
            probability: number;
            /** @description Id of the rubric version. */
            rubric_version: string;
            /**
             * Format: double
             * @description Score from 0 to 1; `null` if there is none.
             */
            score?: number | null;
            /** @description pass, fail, error or deferred. */
            status: string;
            /** @description When it was reached, in UTC (RFC 3339). */
            time: string;
            /** @description Gates that could not be decided, so that the verdict is not a pass. */
            undecided_gates: components["schemas"]["UndecidedVerdictGate"][];
        };
        VerdictLines: {
            /** @description Verdicts of this page. */
            items: components["schemas"]["VerdictLine"][];
            /** @description Number of entries hidden on this page because you have not annotated their items yet. */
            n_withheld: number;
            /** @description Where the next page begins; absent at the end. */
            next?: string | null;
        };
        VerdictSum: {
            /**
             * Format: double
             * @description Cost in US dollars.
             */
            cost: number;
            /**
             * Format: double
             * @description Mean score from 0 to 1; `null` if nothing was scored.
             */
            mean?: number | null;
            /**
             * Format: int64
             * @description Number of verdicts that are still to come.
             */
            n_deferred: number;
            /**
             * Format: int64
             * @description Number of candidates that could not be graded. They are never scores.
             */
            n_error: number;
            /**
             * Format: int64
             * @description Number of verdicts fail.
             */
            n_fail: number;
            /**
             * Format: int64
             * @description Number of verdicts pass.
             */
            n_pass: number;
            /**
             * Format: double
             * @description Share of pass among pass and fail, from 0 to 1; `null` if there are none.
             */
            pass_rate?: number | null;
            /** @description Id of the rubric version. */
            rubric_version: string;
            /**
             * Format: double
             * @description Standard error of the mean; `null` for fewer than two scores.
             */
            standard_error?: number | null;
            /** @description Where the day or hour begins, in UTC; `null` if the sum is over all time. */
            time?: string | null;
        };
        /** @description Whose answers are confirmed or corrected */
        VerificationSource: {
            /** @description Name of a monitor. */
            monitor?: string | null;
            /** @description Id of a run. */
            run?: string | null;
        };
        /** @description What changed from one version to another */
        VersionDiff: {
            /** @description From the top of the rubric to its end; empty if both are the same. */
            changes: components["schemas"]["RubricDifference"][];
            /** @description Id of the earlier version. */
            from: string;
            /** @description Id of the later version. */
            to: string;
        };
        VersionView: {
            /** @description When the version was created, in UTC (RFC 3339). */
            created: string;
            /**
             * @description Id of the version.
             * @example monv_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            id: string;
            /**
             * @description Id of the rubric version with which it judges.
             * @example rubv_local_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            rubric_version: string;
            /** @description As it was written. */
            source: string;
        };
        /** @description The address is a secret and is not returned again. */
        WebhookShown: {
            /**
             * @description Host of the address. The rest of it is secret.
             * @example hooks.example.org
             */
            host: string;
            /** @description Signing secret: only in the response to setting the webhook. */
            secret?: string | null;
        };
        WithRole: {
            /** @description `owner`, `member`, `viewer` or `annotator`. */
            role: string;
        };
        /** @description A stretch of text that stayed, was removed or was added */
        WordRunView: {
            /** @description same, removed or added. */
            change: string;
            /** @description The words. */
            text: string;
        };
        WorkSettings: {
            /** @description Whether submitted items can be opened and changed. */
            back_navigation: boolean;
            /** @description Whether the page shows the descriptions of criteria. */
            shows_descriptions: boolean;
            /** @description Whether the page shows the weighted score of the answers so far. */
            shows_score: boolean;
        };
        /** @description The item that an annotator works on */
        WorkShown: {
            /** @description Your assignment after this one, if you may go back; `null` if there is none. */
            after?: string | null;
            /**
             * @description Id of the assignment.
             * @example asg_0190c4d27e1b7a3c9f50b8e6d1a24c7e
             */
            assignment: string;
            /** @description Your assignment before this one, if you may go back. */
            before?: string | null;
            /** @description Current draft, by scheme. */
            draft: Record<string, never>;
            /** @description As `jurist schema annotation` describes it. */
            item: Record<string, never>;
            /** @description Your items of this task in the order in which you got them, at most the last 200; empty if you may not go back. */
            own: components["schemas"]["OwnItem"][];
            /** @description Progress of the annotator in this task. */
            progress: components["schemas"]["OwnProgress"];
            /**
             * Format: int64
             * @description Revision of the draft; a request that saves or submits it sends this number.
             */
            revision: number;
            /**
             * @description Id of the row in the data of the task; `null` for traces and cases of runs, and for all items of a task with
             *     gold or attention items, because it could show which items these are.
             * @example r1
             */
            row?: string | null;
            /** @description As `jurist schema annotation` describes them. */
            schemes: Record<string, never>[];
            /** @description Settings of the task that change the page. */
            settings: components["schemas"]["WorkSettings"];
            /** @description `assigned` or `submitted`. */
            state: string;
            /** @description The task that the item belongs to. */
            task: components["schemas"]["TaskName"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_accounts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_account_disabled: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the account, `acc_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It is your own account */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_agents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_alerts: {
        parameters: {
            query?: {
                /** @description Include resolved alerts. */
                all?: boolean;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alerts"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    acknowledge_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alert, `alr_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertShown"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    snooze_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the alert, `alr_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AlertSnooze"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertShown"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_assignment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the assignment, `asg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkShown"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    save_assignment_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the assignment, `asg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SentDraft"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DraftSaved"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The draft was changed in the meantime; `newer` has the current one */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    skip_assignment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the assignment, `asg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description It was submitted */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    submit_assignment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the assignment, `asg_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SentDraft"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmitAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The draft was changed in the meantime; `newer` has the current one */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The answers are incomplete; `missing` lists what is needed */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_audit_entries: {
        parameters: {
            query?: {
                /** @description Only entries of this actor: an account (`acc_…`), a token (`tok_…`), `anyone` or `command line`. */
                actor?: string;
                /** @description Only entries of this action, such as `run.push`. */
                action?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditEntryPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_datasets: {
        parameters: {
            query?: {
                /** @description Include archived datasets. */
                archived?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetView"][];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_dataset: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key creates nothing */
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDatasetRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The name is already used */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_dataset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetView"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    archive_dataset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetView"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    update_dataset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DatasetUpdate"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_dataset_cases: {
        parameters: {
            query?: {
                /** @description Number of the version [default: the newest]. */
                version?: number;
                /** @description `dev` or `test` [default: both]. */
                split?: string;
                /** @description Text in the key, task, title or trace id; not case-sensitive for A to Z. */
                search?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetCasePage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_dataset_case: {
        parameters: {
            query?: {
                /** @description Number of the version [default: the newest]. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
                /** @description Key of the case */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetCaseInFull"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    diff_dataset_versions: {
        parameters: {
            query?: {
                /** @description The old version; 0 is the empty one before the first [default: the one before `to`]. */
                from?: number;
                /** @description The new version [default: the newest]. */
                to?: number;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetDiffView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_dataset: {
        parameters: {
            query?: {
                /** @description Number of the version [default: the newest]. */
                version?: number;
                /** @description `dev` or `test` [default: both]. */
                split?: string;
                /** @description `jsonl`, `parquet` or `suite` [default: `jsonl`]. */
                format?: "jsonl" | "parquet" | "suite";
            };
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description In the requested format */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                    "application/vnd.apache.parquet": string;
                    "application/x-ndjson": string;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A case has no rubric for a suite */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_dataset_versions: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetVersionPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_dataset_version: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key writes nothing */
                "idempotency-key"?: string | null;
            };
            path: {
                /** @description Name of the dataset */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDatasetVersion"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetVersionReceipt"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is a newer version than `base`, or the dataset is archived */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too many cases, or a case is too large */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_project: {
        parameters: {
            query?: {
                /** @description Data to export [default: grades]. */
                what?: "grades" | "verdicts" | "traces";
                /** @description Format [default: jsonl]. */
                format?: "csv" | "jsonl";
                /** @description With traces as jsonl: each line holds the trace itself as `trace`, null where it was erased. */
                contents?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A line for each */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_grades: {
        parameters: {
            query?: {
                /** @description Id of the candidate, such as a trace. */
                candidate?: string;
                /** @description Id of the rubric version, `rubv_…`. */
                rubric_version?: string;
                /** @description Name of the agent, if the candidate is a trace. */
                agent?: string;
                /** @description Of grades: name of the criterion. */
                criterion?: string;
                /** @description Of grades: check, judge or human. */
                grader_kind?: string;
                /** @description Of grades: name of the grader. */
                grader?: string;
                /** @description Of verdicts: pass, fail, error or deferred. */
                status?: string;
                /** @description At this time or later, such as 2026-03-01T00:00:00Z. */
                from?: string;
                /** @description Before this time. */
                until?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
                /** @description Include texts: reasons, quotes, claims, errors. */
                full?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GradeLines"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WithRole"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationLink"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_item_answers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the item, `itm_…` */
                item: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemAnswers"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    decide_dispute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the item, `itm_…` */
                item: string;
                /** @description Name of the annotation scheme in the task */
                scheme: string;
                /** @description Criterion, claim or step; the scheme if it has one question */
                criterion: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewDisputeDecision"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DisputeDecision"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    count_jobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobCountView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_dead_jobs: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadJobs"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    discard_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the job, `job_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revive_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the job, `job_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    join_by_invitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Join"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedInAccount"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The address already has an account */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    join_task: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinTask"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinedTask"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_judges: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgeShown"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    ping_judge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JudgePing"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgePingResult"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such judge */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_members: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_member_role: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the account, `acc_…` */
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WithRole"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the account, `acc_…` */
                account: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_monitors: {
        parameters: {
            query?: {
                /** @description Include estimates for the last 30 days. */
                figures?: boolean;
                /** @description Include removed monitors. */
                removed?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MonitorView"][];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_posted_monitor: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MonitorCheckRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileCheckResult"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_monitor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MonitorView"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    upsert_monitor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the monitor, up to 100 letters */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMonitor"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is not valid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_monitor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MonitorView"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_monitor_paused: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MonitorChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MonitorView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_monitor_comparisons: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    request_monitor_comparison: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewComparison"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonPlan"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description They have no task in common */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_monitor_decisions: {
        parameters: {
            query?: {
                /** @description sampled, sampled_out, filtered, nothing_to_judge, over_budget, overloaded, pending, scored, cached, stale or judge_error. */
                state?: string;
                /** @description failed, expensive or other. */
                stratum?: string;
                /** @description Name of the agent. */
                agent?: string;
                /** @description Only those whose judges disagree by more than the margin, or only the others. */
                disputed?: boolean;
                /** @description Decided at this time or later, such as 2026-03-01T00:00:00Z. */
                from?: string;
                /** @description Decided before this time. */
                until?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_monitor_estimates: {
        parameters: {
            query?: {
                /** @description Name of the agent [default: all agents]. */
                agent?: string;
                /** @description Start of the time range [default: 30 days ago]; full UTC days. */
                from?: string;
                /** @description End of the time range [default: now]. */
                until?: string;
                /** @description For trends: a criterion, or `*` for all criteria and the overall score [default: the overall score]. */
                criterion?: string;
                /** @description Include label-corrected means [default: true]. */
                corrected?: boolean;
            };
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Estimates"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_sampling_projection: {
        parameters: {
            query: {
                /** @description A share above 0 and up to 1. */
                sample_rate: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DialProjection"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_monitor_radar: {
        parameters: {
            query?: {
                /** @description Up to six agents [default: all, as far as they can be distinguished] */
                agent?: string[];
                /** @description Start of the time range [default: 30 days ago]; full UTC days */
                from?: string;
                /** @description End of the time range [default: now] */
                until?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChartView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_monitor_rescores: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RescoreView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    request_monitor_rescore: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRescore"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RescorePlan"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is nothing to re-score */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_monitor_trend: {
        parameters: {
            query?: {
                /** @description Name of the agent [default: all agents]. */
                agent?: string;
                /** @description Start of the time range [default: 30 days ago]; full UTC days. */
                from?: string;
                /** @description End of the time range [default: now]. */
                until?: string;
                /** @description For trends: a criterion, or `*` for all criteria and the overall score [default: the overall score]. */
                criterion?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MonitorTrend"][];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_monitor_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the monitor */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_notification_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationSettingsView"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    update_notification_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NotificationChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotificationSettingsView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    send_test_notification: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_presets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PresetShown"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_projects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_project: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProject"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The name is already used */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_ranking: {
        parameters: {
            query?: {
                /** @description `comparisons` of monitors, or `people` [default: comparisons]. */
                source?: string;
                /** @description Of comparisons: only those of this monitor, by its name or id. */
                monitor?: string;
                /** @description Of comparisons: only those before this judge. */
                judge?: string;
                /** @description Of people: the task in which they compare. */
                task?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ranks"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    grade_rewards: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RewardRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RewardScores"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The rubric is not valid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_rubric_version: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the rubric version, `rubv_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RubricVersionView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    diff_rubric_versions: {
        parameters: {
            query: {
                /** @description The version that it is compared with. */
                from: string;
            };
            header?: never;
            path: {
                /** @description Id of the rubric version, `rubv_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionDiff"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_rubrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RubricSummary"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_rubric: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRubric"];
            };
        };
        responses: {
            200: {
                headers: {
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RubricSummary"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The name is already used */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is not valid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    check_posted_rubric: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RubricCheckRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileCheckResult"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    preview_judge_prompts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptPreviewRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Prompts"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is not valid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    try_rubric: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key starts nothing */
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTrial"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trial"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is not valid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_rubric: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the rubric, `rub_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RubricSummary"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_rubric_archived: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the version to change */
                "if-match"?: string | null;
            };
            path: {
                /** @description Id of the rubric, `rub_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RubricChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RubricSummary"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Changed in the meantime */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_rubric_versions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the rubric, `rub_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RubricVersionView"][];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_version: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the version to change */
                "if-match"?: string | null;
            };
            path: {
                /** @description Id of the rubric, `rub_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewVersion"];
            };
        };
        responses: {
            200: {
                headers: {
                    etag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RubricVersionView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Changed in the meantime */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is not valid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run_history: {
        parameters: {
            query?: {
                /** @description The suite's name [default: the suite of the newest run]. */
                suite?: string;
                /** @description Only runs of this branch. */
                branch?: string;
                /** @description How many runs, the newest of them, from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunHistory"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                /** @description Name of the suite. */
                suite?: string;
                /** @description Name of the branch. */
                branch?: string;
                /** @description The beginning of a commit's hash. */
                commit?: string;
                /** @description Name of the author. */
                author?: string;
                /** @description A tag of the run. */
                tag?: string;
                /** @description Words; each must be part of the id, suite, branch, commit, author or a tag. Not case-sensitive for A to Z. */
                search?: string;
                /** @description Started at this time or later, as RFC 3339. */
                from?: string;
                /** @description Started before this time. */
                until?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunLines"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key starts nothing */
                "idempotency-key"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmittedRunView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The same request is still running */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The suite is not valid */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunInFull"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    push_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…`; the client chooses it */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PushedRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushProgress"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another run has this id */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    delete_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_run_answers: {
        parameters: {
            query?: {
                /** @description The place of the last result that is known. */
                after?: number;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAnswerPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_run_changes: {
        parameters: {
            query: {
                /** @description The run to compare with. */
                baseline: string;
                /**
                 * @description verdict (it changed), worse, better, different-answer (with the same verdict), undecided, or all
                 *     [default: verdict].
                 */
                filter?: string;
                /** @description Only cases with this in their name. */
                find?: string;
                /** @description `next` of the page before. */
                after?: number;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunChangePage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run_comparison: {
        parameters: {
            query: {
                /** @description A run to compare with; up to seven of them */
                before: string[];
            };
            header?: never;
            path: {
                /** @description The run after */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunsCompared"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run_criteria: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunCriteria"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    end_pushed_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndedRun"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushProgress"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Results are missing, or the run is graded by this server */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    stream_run_events: {
        parameters: {
            query?: never;
            header?: {
                /** @description Position of the last received event */
                "last-event-id"?: string | null;
            };
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_run_exchanges: {
        parameters: {
            query: {
                /** @description The name of a case. */
                case: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeView"][];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_flaky_cases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunTrials"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_run_labels: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunLabelPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    put_run_label: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunLabelEntry"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The case has no result */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run_matrix: {
        parameters: {
            query?: {
                /** @description One of the keys [default: the field that varies]. */
                rows?: string;
                /** @description Another one of the keys [default: a second field that varies]. */
                columns?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunMatrix"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_run_report: {
        parameters: {
            query?: {
                /** @description json, ndjson, junit, md, tap, csv, html, sarif, gitlab, github, pr-comment or otel [default: json]. */
                format?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description In the requested format */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                    "application/x-ndjson": string;
                    "application/xml": string;
                    "text/csv": string;
                    "text/html": string;
                    "text/markdown": string;
                    "text/plain": string;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    rerun_cases: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key starts nothing */
                "idempotency-key"?: string | null;
            };
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RerunRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmittedRunView"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The same request is still running */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The run was graded elsewhere, or has no such case */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_run_results: {
        parameters: {
            query?: {
                /** @description The place of the last result that is known. */
                after?: number;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunResultPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    push_run_results: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, `run_…` */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PushedResults"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PushProgress"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The run has ended, or is graded by this server */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_session: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedInAccount"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    sign_out: {
        parameters: {
            query?: {
                /** @description End the sessions in all browsers. */
                everywhere?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPassword"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedInAccount"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    join_project: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinProject"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenProject"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description They are already a member */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_spend: {
        parameters: {
            query?: {
                /** @description Month such as `2026-03` [default: the current month]. */
                month?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendShown"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    set_cap: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCap"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapShown"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_spend_cap: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tallies: {
        parameters: {
            query?: {
                /** @description hour, day or all [default: all]. */
                by?: "hour" | "day" | "all";
                /** @description Id of the rubric version, `rubv_…`. */
                rubric_version?: string;
                /** @description Of grades: name of the criterion. */
                criterion?: string;
                /** @description Of grades: name of the grader. */
                grader?: string;
                /** @description Name of the agent, if the candidate is a trace. */
                agent?: string;
                /** @description Start of the time range, such as 2026-03-01T00:00:00Z; full UTC days unless `by` is hour. */
                from?: string;
                /** @description End of the time range, which is not part of it; full UTC days unless `by` is hour. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tallies"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_tasks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskLines"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_task: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTaskRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskLine"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The file is not valid, or there is nothing to ask about */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskInFull"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    update_task: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskLine"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_task_agreement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskAgreement"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_disputes: {
        parameters: {
            query?: {
                /** @description `next` of the page before. */
                after?: number;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Disputes"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    export_task_answers: {
        parameters: {
            query?: {
                /** @description `jsonl`, `csv` or `parquet` [default: `jsonl`]. */
                format?: string;
            };
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description In the requested format */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.parquet": string;
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    add_items: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoreItems"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemsAdded"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    remove_item: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
                /** @description Id of the item, `itm_…` */
                item: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_join_link: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskLinks"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    assign_next_item: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NextWork"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_task_annotators: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotatorActivityList"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    update_task_annotator: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
                /** @description Id of the account, `acc_…` */
                account: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnnotatorChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotatorActivity"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_task_results: {
        parameters: {
            query?: {
                /** @description A field of the data, such as `agent`. */
                by?: string;
            };
            header?: never;
            path: {
                /** @description Id of the annotation task, `ant_…` */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownResults"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_project_tokens: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenView"][];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_token: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTokenRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedToken"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    revoke_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the token, `tok_…`; this is not its secret */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    count_traces: {
        parameters: {
            query?: {
                /** @description Name of the agent. */
                agent?: string;
                /** @description Id of the session. */
                session?: string;
                /** @description `open`, `finished`, `reopened` or `erased`. */
                state?: string;
                /** @description Status at the end, as the framework names it. */
                status?: string;
                /** @description Only traces that failed, or only the others. */
                failed?: boolean;
                /** @description Began at this time or later, as RFC 3339. */
                from?: string;
                /** @description Began before this time. */
                until?: string;
                /** @description Lowest cost, in US dollars. */
                min_cost?: number;
                /** @description Shortest duration, in milliseconds. */
                min_duration_ms?: number;
                /** @description Has a verdict: `pass`, `fail`, `error` or `deferred`. */
                verdict?: string;
                /** @description Whether its newest verdict has a score. */
                scored?: boolean;
                /** @description Beginning of the id. */
                id_prefix?: string;
                /** @description Text in the id, agent, session or title; not case-sensitive for A to Z. */
                search?: string;
                /**
                 * @description time, cost, duration or score (of the newest verdict), with `-` for descending order [default: `-time`].
                 *     Traces without the sort key are not listed; when sorted by score, neither are traces that you have not
                 *     annotated yet.
                 * @example -cost
                 */
                sort?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TraceCounts"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_traces: {
        parameters: {
            query?: {
                /** @description Name of the agent. */
                agent?: string;
                /** @description Id of the session. */
                session?: string;
                /** @description `open`, `finished`, `reopened` or `erased`. */
                state?: string;
                /** @description Status at the end, as the framework names it. */
                status?: string;
                /** @description Only traces that failed, or only the others. */
                failed?: boolean;
                /** @description Began at this time or later, as RFC 3339. */
                from?: string;
                /** @description Began before this time. */
                until?: string;
                /** @description Lowest cost, in US dollars. */
                min_cost?: number;
                /** @description Shortest duration, in milliseconds. */
                min_duration_ms?: number;
                /** @description Has a verdict: `pass`, `fail`, `error` or `deferred`. */
                verdict?: string;
                /** @description Whether its newest verdict has a score. */
                scored?: boolean;
                /** @description Beginning of the id. */
                id_prefix?: string;
                /** @description Text in the id, agent, session or title; not case-sensitive for A to Z. */
                search?: string;
                /**
                 * @description time, cost, duration or score (of the newest verdict), with `-` for descending order [default: `-time`].
                 *     Traces without the sort key are not listed; when sorted by score, neither are traces that you have not
                 *     annotated yet.
                 * @example -cost
                 */
                sort?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TraceSummaryPage"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_trace: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TraceEnvelope"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TraceReceipt"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Another trace with this id is already stored and is kept */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Nothing was stored; retry after `Retry-After` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    send_lines: {
        parameters: {
            query?: {
                /** @description Trace format of lines that name none, such as `openai-chat` [default: recognised by its content]. */
                format?: string;
                /** @description Name of the agent, for lines without this field. */
                agent?: string;
                /** @description Id of the session, for lines without this field. */
                session?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["LineAnswer"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Retry after `Retry-After`; repeated data is stored once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_trace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the trace, as its sender chose it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TraceSummary"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_trace_content: {
        parameters: {
            query?: {
                /** @description Revision [default: the newest]. */
                revision?: number;
            };
            header?: never;
            path: {
                /** @description Id of the trace, as its sender chose it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A trace in Jurist's own form, with an `ETag` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description Unchanged since `If-None-Match` */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_trace_decisions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the trace, as its sender chose it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DecisionView"][];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_trace_exchanges: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the trace, as its sender chose it */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExchangeView"][];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_verdicts: {
        parameters: {
            query?: {
                /** @description Id of the candidate, such as a trace. */
                candidate?: string;
                /** @description Id of the rubric version, `rubv_…`. */
                rubric_version?: string;
                /** @description Name of the agent, if the candidate is a trace. */
                agent?: string;
                /** @description Of grades: name of the criterion. */
                criterion?: string;
                /** @description Of grades: check, judge or human. */
                grader_kind?: string;
                /** @description Of grades: name of the grader. */
                grader?: string;
                /** @description Of verdicts: pass, fail, error or deferred. */
                status?: string;
                /** @description At this time or later, such as 2026-03-01T00:00:00Z. */
                from?: string;
                /** @description Before this time. */
                until?: string;
                /** @description `next` of the page before. */
                after?: string;
                /** @description Page size from 1 to 200 [default: 50]. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerdictLines"];
                };
            };
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_readiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    receive_otlp_export: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description ExportTraceServiceRequest */
        requestBody: {
            content: {
                "application/json": unknown;
                "application/x-protobuf": number[];
            };
        };
        responses: {
            /** @description ExportTraceServiceResponse */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description google.rpc.Status: the request cannot be read */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description google.rpc.Status */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description google.rpc.Status */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description google.rpc.Status */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            415: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description google.rpc.Status: nothing was stored; retry after `Retry-After` */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description google.rpc.Status: the database is not available */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description What was wrong */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
