import {
  type ReactNode,
  type Ref,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { Code } from "../traces/view/Code";
import { markQuotes, type Quote, selectedQuote } from "../traces/view/highlights";
import { TraceView, type TraceViewHandle } from "../traces/view/TraceView";
import styles from "./ItemView.module.css";
import { keywordPattern } from "./keywords";
import { KeywordLegend, MarkedText } from "./MarkedText";
import type { Given, Item, Keyword } from "./types";

export type ItemViewHandle = {
  /** The selected text with its position. */
  selected: () => Quote | undefined;
  /** Shows a step of its trace. */
  show: (step: number) => void;
  /** Takes the focus, so that keys move through the steps. */
  focus: () => void;
};

type ItemViewProps = {
  item: Item;
  step: number | undefined;
  onStepChange: (step: number) => void;
  /** Steps where `j` and `k` stop; all of them where this is absent. */
  stops?: number[];
  /** Quotes to mark in the texts. */
  quotes: Quote[];
  /** Drawn below a step. */
  beside?: (n: number) => ReactNode;
  ref?: Ref<ItemViewHandle>;
};

/** The item to annotate: a trace, a text, or candidates side by side. */
export function ItemView({ item, step, onStepChange, stops, quotes, beside, ref }: ItemViewProps) {
  const root = useRef<HTMLDivElement>(null);
  const view = useRef<TraceViewHandle>(null);
  const [find, setFind] = useState("");
  const { keywords } = item;
  const pattern = useMemo(() => keywordPattern(keywords ?? []), [keywords]);
  useImperativeHandle(
    ref,
    () => ({
      selected: () => (root.current ? selectedQuote(root.current) : undefined),
      show: (n) => view.current?.show(n),
      focus: () =>
        root.current?.querySelector<HTMLElement>('[role="group"][tabindex]')?.focus({ preventScroll: true }),
    }),
    [],
  );
  const hasTop = item.given !== undefined || keywords?.some((it) => it.label !== undefined);
  return (
    <div ref={root} className={styles.seen} data-given={hasTop || undefined}>
      <KeywordLegend keywords={keywords} />
      {item.given && <GivenTexts all={item.given} keywords={keywords} />}
      {item.fields && (
        <ShownFields
          fields={item.fields}
          isSideBySide={item.side_by_side === true}
          quotes={quotes}
          keywords={keywords}
        />
      )}
      {item.candidates ? (
        <CandidateList candidates={item.candidates} keywords={keywords} />
      ) : item.trace ? (
        <TraceView
          ref={view}
          trace={item.trace}
          step={step}
          onStepChange={onStepChange}
          stops={stops}
          find={find}
          onFindChange={setFind}
          quotes={quotes}
          pattern={pattern}
          beside={beside}
        />
      ) : (
        !item.fields && <TextView text={item.text ?? ""} quotes={quotes} keywords={keywords} />
      )}
    </div>
  );
}

/** Marks quotes in the texts of an element. */
function useMarkedQuotes(quotes: Quote[]) {
  const pane = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (pane.current) markQuotes(pane.current, quotes);
  }, [quotes]);
  return pane;
}

type ShownFieldsProps = {
  fields: NonNullable<Item["fields"]>;
  isSideBySide: boolean;
  quotes: Quote[];
  keywords?: Keyword[];
};

/** The fields of a row that the task shows, such as question, answer, reference and context. */
function ShownFields({ fields, isSideBySide, quotes, keywords }: ShownFieldsProps) {
  const pane = useMarkedQuotes(quotes);
  return (
    <div
      ref={pane}
      className={styles.fields}
      data-layout={isSideBySide ? "side_by_side" : "stacked"}
      tabIndex={0}
      role="group"
      aria-label="Item to annotate"
    >
      {fields.map((field) => (
        <section key={field.key} aria-label={field.label}>
          <h2>{field.label}</h2>
          <p dir="auto" data-text data-part={field.key}>
            <MarkedText text={field.text} keywords={keywords} />
          </p>
        </section>
      ))}
    </div>
  );
}

const GIVEN_WORDS: Record<Given["kind"], string> = {
  context: "Context",
  reference: "Reference answer",
  requirement: "Requirement",
  diff: "Diff",
};

/** The input of the judge, to verify its answers. */
function GivenTexts({ all, keywords }: { all: Given[]; keywords?: Keyword[] }) {
  return (
    <section className={styles.given} aria-label="Input of the judge">
      {all.map((it, at) => (
        <details key={at} open>
          <summary>{GIVEN_WORDS[it.kind]}</summary>
          {it.kind === "diff" ? (
            <Code text={it.text} part="diff" />
          ) : (
            <p dir="auto" data-text>
              <MarkedText text={it.text} keywords={keywords} />
            </p>
          )}
        </details>
      ))}
    </section>
  );
}

type CandidateListProps = { candidates: NonNullable<Item["candidates"]>; keywords?: Keyword[] };

function CandidateList({ candidates, keywords }: CandidateListProps) {
  return (
    <div className={styles.candidates}>
      {candidates.map((it) => (
        <article key={it.label} className={styles.candidate}>
          <h2>{it.label}</h2>
          {it.trace ? (
            <div className={styles.inner}>
              <TraceView trace={it.trace} onStepChange={() => {}} />
            </div>
          ) : (
            <p dir="auto" data-text>
              <MarkedText text={it.text ?? ""} keywords={keywords} />
            </p>
          )}
        </article>
      ))}
    </div>
  );
}

/** A text with quotes marked. */
function TextView({ text, quotes, keywords }: { text: string; quotes: Quote[]; keywords?: Keyword[] }) {
  const pane = useMarkedQuotes(quotes);
  return (
    <div ref={pane} className={styles.text} tabIndex={0} role="group" aria-label="Item to annotate">
      <p dir="auto" data-text data-part="response">
        <MarkedText text={text} keywords={keywords} />
      </p>
    </div>
  );
}
