import type { Quote } from "../traces/view/highlights";
import { Button } from "../ui/Button";
import styles from "./EvidenceQuotes.module.css";

type EvidenceQuotesProps = {
  quotes: Quote[] | undefined;
  onQuoteShow: (quote: Quote) => void;
  /** Removes a quote; absent for quotes of others. */
  onQuoteTake?: (nth: number) => void;
};

/** Quotes as evidence; a click shows the context. */
export function EvidenceQuotes({ quotes = [], onQuoteShow, onQuoteTake }: EvidenceQuotesProps) {
  return quotes.map((quote, nth) => (
    <p key={nth} className={styles.quote}>
      <button
        type="button"
        className={styles.words}
        dir="auto"
        title="Show this quote in its context"
        onClick={() => onQuoteShow(quote)}
      >
        {quote.quote}
      </button>
      {onQuoteTake && (
        <Button look="quiet" aria-label="Remove the quote" onClick={() => onQuoteTake(nth)}>
          ✕
        </Button>
      )}
    </p>
  ));
}

/** The step of a quote. */
export function stepOf(quote: Quote): number | undefined {
  return Number(/^trace\.(\d+)\./.exec(quote.part ?? "")?.[1]) || undefined;
}
