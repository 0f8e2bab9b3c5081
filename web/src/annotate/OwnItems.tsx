import { Menu } from "../ui/Menu";
import type { Work } from "./types";

type OwnItemsProps = {
  own: Work["own"];
  current: string;
  /** Items that the person has submitted in all. */
  nDone: number;
  isDisabled: boolean;
  onChoose: (assignment: string) => void;
};

/** The person's own items of the task, to jump to any of them. */
export function OwnItems({ own, current, nDone, isDisabled, onChoose }: OwnItemsProps) {
  if (own.length < 2) return null;
  // The list has the last items only; they keep their numbers.
  const nAssigned = own.filter((it) => it.state !== "submitted").length;
  const first = Math.max(0, nDone + nAssigned - own.length) + 1;
  return (
    <Menu label="Your items" button="Your items ▾">
      {(close) =>
        own.map((it, at) => (
          <button
            key={it.assignment}
            type="button"
            role="menuitemradio"
            aria-checked={it.assignment === current}
            disabled={isDisabled}
            onClick={() => {
              close();
              if (it.assignment !== current) onChoose(it.assignment);
            }}
          >
            Item {first + at}, {it.state === "submitted" ? "submitted" : "not submitted"}
          </button>
        ))
      }
    </Menu>
  );
}
