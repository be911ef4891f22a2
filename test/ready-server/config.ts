export { smallestConfig as minimal } from "#src/format/smallest-config.ts"
import { readFileSync } from "node:fs"

export const restaurant = JSON.parse(
  readFileSync(new URL("../../examples/restaurant/ready-config.json", import.meta.url), "utf8")
) as Record<string, unknown>
