import { Context } from "effect"

/** Headers for every response, also one that is written directly (as by the legacy SSE transport). */
export class StandardHeaders extends Context.Reference<StandardHeaders>()("http/StandardHeaders", {
  defaultValue: (): Readonly<Record<string, string>> => ({})
}) {}
