// One server for all tests that only look.
import { fill, placed } from "./place";

export default async function setup() {
  const place = await placed({});
  await fill(place);
  process.env.JURIST_OPEN = place.url;
  return place.end;
}
