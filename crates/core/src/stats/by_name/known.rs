//! What each family of `stats compute` knows: its inputs and, where these are words, which. What is not known here
//! is refused, since an input that is left out would be answered as another question.

use serde_json::Value as Json;

struct Family {
    name: &'static str,
    keys: &'static [&'static str],
    /// Inputs that are one of some words.
    words: &'static [(&'static str, &'static [&'static str])],
}

const WEIGHTS: (&str, &[&str]) = ("weights", &["none", "unweighted", "linear", "quadratic"]);
const LEVELS: (&str, &[&str]) = ("level", &["nominal", "ordinal", "interval", "ratio"]);
const RATINGS: [&str; 8] =
    ["ratings", "counts", "table", "rater1", "rater2", "categories", "layout", "same_input_as"];

const FAMILIES: &[Family] = &[
    Family { name: "krippendorff_alpha", keys: &["level"], words: &[LEVELS] },
    Family { name: "cohen_kappa", keys: &["weights"], words: &[WEIGHTS] },
    Family { name: "fleiss_kappa", keys: &["method"], words: &[("method", &["fleiss", "randolph"])] },
    Family { name: "gwet_ac1", keys: &["weights"], words: &[] },
    Family { name: "gwet_ac2", keys: &["weights"], words: &[] },
    Family { name: "icc", keys: &[], words: &[] },
    Family { name: "correlation", keys: &["x", "y"], words: &[] },
    Family {
        name: "dawid_skene",
        keys: &["long", "responses", "truth", "classes", "worker_true_accuracy"],
        words: &[],
    },
    Family {
        name: "rater_aggregation",
        keys: &["long", "responses", "truth", "classes", "worker_true_accuracy"],
        words: &[],
    },
    Family {
        name: "glad",
        keys: &["long", "responses", "truth", "classes", "worker_true_accuracy"],
        words: &[],
    },
    Family { name: "proportion_ci", keys: &["k", "n", "conf", "alpha"], words: &[] },
    Family {
        name: "bootstrap_ci",
        keys: &["x", "statistic", "conf", "alpha", "resamples", "seed"],
        words: &[("statistic", &["mean", "median"])],
    },
    Family { name: "mean_ci", keys: &["x", "conf", "alpha"], words: &[] },
    Family { name: "clustered_se", keys: &["x", "clusters", "conf", "alpha"], words: &[] },
    Family {
        name: "cluster_bootstrap",
        keys: &["x", "clusters", "conf", "alpha", "resamples", "seed"],
        words: &[],
    },
    Family { name: "paired_permutation", keys: &["a", "b", "seed"], words: &[] },
    Family {
        name: "paired_bootstrap",
        keys: &["a", "b", "statistic", "conf", "alpha", "resamples", "seed"],
        words: &[("statistic", &["mean", "median"])],
    },
    Family { name: "two_proportions", keys: &["k1", "n1", "k2", "n2", "conf", "alpha"], words: &[] },
    Family { name: "horvitz_thompson", keys: &["y", "probabilities", "N", "conf", "alpha"], words: &[] },
    Family { name: "classification", keys: &["truth", "predicted"], words: &[] },
    Family { name: "calibration", keys: &["scores", "labels", "bins"], words: &[] },
    Family { name: "mcnemar", keys: &["table", "layout"], words: &[] },
    Family { name: "wilcoxon", keys: &["a", "b", "x", "y"], words: &[] },
    Family { name: "friedman", keys: &["agents"], words: &[] },
    Family {
        name: "multiple_comparisons",
        keys: &["p", "method", "alpha", "conf"],
        words: &[(
            "method",
            &[
                "bonferroni",
                "sidak",
                "holm",
                "holm-sidak",
                "simes-hochberg",
                "hochberg",
                "hommel",
                "fdr_bh",
                "BH",
                "benjamini-hochberg",
                "fdr_by",
                "BY",
                "benjamini-yekutieli",
            ],
        )],
    },
    Family {
        name: "survey_weights",
        keys: &[
            "strata",
            "stratum",
            "y",
            "x",
            "values",
            "weights",
            "w",
            "probabilities",
            "pi",
            "inclusion_probabilities",
            "population",
            "N",
            "fpc",
            "alpha",
            "conf",
        ],
        words: &[],
    },
    Family {
        name: "ppi",
        keys: &[
            "Y",
            "Yhat",
            "Yhat_unlabeled",
            "Yhat_unlabeled_counts",
            "alpha",
            "conf",
            "null",
            "alternative",
        ],
        words: &[("alternative", &["two-sided", "larger", "greater", "smaller", "less"])],
    },
    Family {
        name: "rogan_gladen",
        keys: &["tp", "fn", "tn", "fp", "judge_pass", "n_judged", "alpha", "conf"],
        words: &[],
    },
    Family {
        name: "isotonic",
        keys: &["x", "score", "y", "label", "w", "weights", "predict_at"],
        words: &[],
    },
    Family { name: "platt", keys: &["x", "score", "y", "label", "targets"], words: &[] },
    Family {
        name: "confidence_sequence",
        keys: &[
            "x",
            "method",
            "alpha",
            "conf",
            "at_n",
            "running_intersection",
            "v",
            "v_min",
            "v_opt",
            "alpha_opt",
            "is_one_sided",
            "c",
            "s",
            "eta",
        ],
        words: &[(
            "method",
            &[
                "hoeffding",
                "empirical_bernstein",
                "predmix_empbern_cs",
                "predmix_hoeffding_cs",
                "hedged",
                "betting_cs",
            ],
        )],
    },
    Family {
        name: "power",
        keys: &[
            "test",
            "alpha",
            "conf",
            "power",
            "n",
            "p1",
            "p2",
            "p01",
            "p10",
            "unpaired",
            "effect_size_d",
            "effect_size",
            "d",
        ],
        words: &[],
    },
    Family { name: "pass_k", keys: &["trials_per_task", "k"], words: &[] },
    Family {
        name: "bradley_terry",
        keys: &[
            "wins",
            "ties",
            "comparisons",
            "data",
            "pairs",
            "n_items",
            "n_players",
            "n",
            "names",
            "players",
            "model",
            "tie_rule",
            "position",
            "home_advantage",
            "penalty",
            "l2",
            "method",
            "alpha",
            "reference",
            "scale",
        ],
        words: &[],
    },
];

/// Families that take ratings, in any of the shapes these come in.
const RATED: [&str; 6] = ["krippendorff_alpha", "cohen_kappa", "fleiss_kappa", "gwet_ac1", "gwet_ac2", "icc"];

/// Names of functions that take a list of arguments.
const FUNCTIONS: &[&str] = &[
    "percent_agreement",
    "cohen_kappa",
    "weighted_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "pearson_r",
    "spearman_rho",
    "kendall_tau",
    "mae",
    "rmse",
    "brier",
    "ece",
    "dawid_skene",
    "majority_vote",
    "icc_1_1",
    "icc_2_1",
    "icc_3_1",
    "icc_1_k",
    "icc_2_k",
    "icc_3_k",
    "wilson_ci",
    "deterministic_sample",
];

/// Everything that can be asked for by name, families first.
pub fn computable() -> Vec<&'static str> {
    let families = FAMILIES.iter().map(|family| family.name);
    families
        .chain(
            FUNCTIONS
                .iter()
                .copied()
                .filter(|function| FAMILIES.iter().all(|family| family.name != *function)),
        )
        .collect()
}

/// What an input has that its family does not know, and what it knows instead.
pub(super) fn unknown_part(name: &str, input: &Json) -> Option<String> {
    let input = input.as_object()?;
    let family = FAMILIES.iter().find(|family| family.name == name)?;
    let own = family.keys.iter().copied();
    let rated = RATINGS.iter().copied().filter(|rating| RATED.contains(&name) || *rating == "same_input_as");
    let keys: Vec<&str> = own.chain(rated).collect();
    let is_known = |key: &String| {
        keys.contains(&key.as_str()) || (name == "pass_k" && key.starts_with("successes_per_task_of_"))
    };
    if let Some(key) = input.keys().find(|key| !is_known(key)) {
        return Some(format!("`{name}` knows no `{key}`; it knows {}", keys.join(", ")));
    }
    for (key, words) in family.words {
        let word_given = input.get(*key).and_then(Json::as_str);
        if let Some(word_given) = word_given.filter(|word_given| {
            !words.iter().any(|word| {
                word_given.eq_ignore_ascii_case(word)
                    || (name == "fleiss_kappa" && word_given.starts_with(word))
            })
        }) {
            return Some(format!("`{word_given}` is no `{key}` of `{name}`; there are {}", words.join(", ")));
        }
    }
    None
}
