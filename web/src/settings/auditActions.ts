// Entries of the audit log in words.

/** What the server records, in the past tense; the code of an action is its tooltip and its filter. */
const ACTIONS: Record<string, string> = {
  "account.change": "account changed",
  "account.join": "account created",
  "account.password": "password changed",
  "alert.acknowledge": "alert acknowledged",
  "alert.snooze": "alert snoozed",
  "cap.lift": "cap removed",
  "cap.set": "cap set",
  "dataset.add": "dataset created",
  "dataset.archive": "dataset archived",
  "dataset.describe": "dataset described",
  "dataset.restore": "dataset restored",
  "dataset.version": "dataset version added",
  "job.discard": "job discarded",
  "job.revive": "job tried again",
  "judge.ping": "judge tested",
  "member.invite": "member invited",
  "member.remove": "member removed",
  "member.role": "role changed",
  "monitor.apply": "monitor file applied",
  "monitor.compare": "comparisons started",
  "monitor.pause": "monitor paused",
  "monitor.remove": "monitor removed",
  "monitor.rescore": "re-score started",
  "monitor.resume": "monitor resumed",
  "notifications.change": "notifications changed",
  "project.add": "project created",
  "project.join": "joined the project",
  "rubric.add": "rubric created",
  "rubric.archive": "rubric archived",
  "rubric.restore": "rubric restored",
  "rubric.version": "rubric version added",
  "run.label": "case labelled",
  "run.push": "run received",
  "run.remove": "run removed",
  "run.submit": "run submitted",
  "session.begin": "signed in",
  "task.add": "task created",
  "task.change": "task changed",
  "task.decide": "dispute decided",
  "task.items": "items added",
  "task.link": "invitation link created",
  "task.person": "annotator excluded or included",
  "token.add": "API token created",
  "token.revoke": "API token revoked",
};

/** The action in words; its code, where this version of the pages does not know it. */
export const describeAction = (action: string): string => ACTIONS[action] ?? action;

/** `name: ci; scopes: ingest, read`. */
export function describeDetails(body: Record<string, unknown> | null | undefined): string {
  return Object.entries(body ?? {})
    .filter(([, value]) => value !== null && value !== "")
    .map(([key, value]) => `${key.replace(/^n_/, "").replaceAll("_", " ")}: ${describeValue(value)}`)
    .join("; ");
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(describeValue).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
