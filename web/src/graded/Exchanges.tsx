import { useQuery } from "@tanstack/react-query";
import { answered, api } from "../api/client";
import { useProject } from "../api/session";
import { Code, isJson } from "../traces/view/Code";
import { Badge } from "../ui/Badge";
import { Dialog } from "../ui/Dialog";
import { Loaded } from "../ui/Loaded";
import { State } from "../ui/State";
import { moment } from "../ui/say";
import styles from "./Exchanges.module.css";
import { Messages } from "./Messages";

/** What judges were asked about a trace, word for word, and what they said. */
export function Exchanges({ trace, onClose }: { trace: string; onClose: () => void }) {
  const project = useProject();
  const exchanges = useQuery({
    queryKey: ["exchanges", project.id, trace],
    queryFn: () =>
      answered(api(project.id).GET("/api/v1/traces/{id}/exchanges", { params: { path: { id: trace } } })),
  });
  return (
    <Dialog title="What judges were asked, and said" onClose={onClose} wide>
      <Loaded query={exchanges} what="what judges were asked">
        {(all) =>
          all.length === 0 ? (
            <State title="No judge was asked about it">
              <p>What was judged before was not asked again, and what retention has taken away is gone.</p>
            </State>
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
                    <Messages all={it.messages} />
                    <section className={styles.reply} aria-label="Reply">
                      <h3>{it.judge} said</h3>
                      {it.error && <p className={styles.error}>{it.error}</p>}
                      {it.reply != null && <Reply text={it.reply} />}
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

function Reply({ text }: { text: string }) {
  const shown = isJson(text) ? JSON.stringify(JSON.parse(text), null, 2) : text;
  return <Code text={shown} language={isJson(text) ? "json" : undefined} />;
}
