import styles from "./JudgeMessages.module.css";

type Message = { role: string; content: string };

/** The messages to a judge. */
export function JudgeMessages({ all }: { all: Message[] }) {
  return (
    <div className={styles.messages}>
      {all.map((it, at) => (
        <section key={at} aria-label={`${it.role} message`}>
          <h3>{it.role}</h3>
          <pre tabIndex={0}>{it.content}</pre>
        </section>
      ))}
    </div>
  );
}
