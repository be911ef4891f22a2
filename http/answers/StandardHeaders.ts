import { Context } from "effect"

/** Headers that the response gets, whoever writes it (the legacy SSE transport writes its own). */
export class StandardHeaders extends Context.Reference<StandardHeaders>()("http/StandardHeaders", {
  defaultValue: (): Readonly<Record<string, string>> => ({})
}) {}
