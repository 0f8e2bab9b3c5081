import type { Quote } from "../traces/view/highlights";
import { Button } from "../ui/Button";
import styles from "./EvidenceQuotes.module.css";

type EvidenceQuotesProps = {
  quotes: Quote[] | undefined;
  onQuoteShow: (quote: Quote) => void;
  /** Takes the one at this place away; absent where they are not one's own. */
  onQuoteTake?: (nth: number) => void;
};

/** Words that were quoted as evidence; each shows where it stands. */
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

/** The step in which a quote stands. */
export function stepOf(quote: Quote): number | undefined {
  return Number(/^trace\.(\d+)\./.exec(quote.part ?? "")?.[1]) || undefined;
}
