// Search parameters of the pages in this folder.
import { type RawSearch, textParam } from "../api/searchParams";

export type SignInSearch = { next?: string };

export const readSignInSearch = (raw: RawSearch): SignInSearch => ({ next: textParam(raw.next) });
