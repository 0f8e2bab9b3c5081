import { useQuery } from "@tanstack/react-query";
import { useProject } from "../api/session";
import { Code, isJson } from "../traces/view/Code";
import { Badge } from "../ui/Badge";
import { Dialog } from "../ui/Dialog";
import { moment } from "../ui/format";
import { Loaded } from "../ui/Loaded";
import { Notice } from "../ui/Notice";
import styles from "./JudgeExchanges.module.css";
import { JudgeMessages } from "./JudgeMessages";
import { exchangesQuery } from "./queries";

/** Requests to judges about a trace, and their replies. */
export function JudgeExchanges({ trace, onClose }: { trace: string; onClose: () => void }) {
  const project = useProject();
  const exchanges = useQuery(exchangesQuery(project.id, trace));
  return (
    <Dialog title="Judge requests and replies" onClose={onClose} wide>
      <Loaded query={exchanges} what="judge requests">
        {(all) =>
          all.length === 0 ? (
            <Notice title="No judge requests">
              <p>
                A cached score needs no request, and requests older than the retention period are deleted.
              </p>
            </Notice>
          ) : (
            <ul className={styles.all}>
              {all.map((it, at) => (
                <li key={at}>
                  <details open={all.length === 1 || undefined}>
                    <summary>
                      <b>{it.judge}</b>
                      {it.monitor && <span>for {it.monitor}</span>}
                      {it.criterion && <span>{it.criterion}</span>}
                      <span className={styles.soft}>{moment(it.time)}</span>
                      {it.error && <Badge tone="error">! no reply</Badge>}
                    </summary>
                    <JudgeMessages all={it.messages} />
                    <section className={styles.reply} aria-label="Reply">
                      <h3>Reply of {it.judge}</h3>
                      {it.error && <p className={styles.error}>{it.error}</p>}
                      {it.reply != null && <JudgeReply text={it.reply} />}
                    </section>
                  </details>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function JudgeReply({ text }: { text: string }) {
  const shown = isJson(text) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return <Code text={shown} language={isJson(text) ? "json" : undefined} />;
}
