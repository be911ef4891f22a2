import { type QueryDefinition } from "./QueryDefinition.ts"

const saysSomething = (text: string) => /[\p{L}\p{N}]/u.test(text)

/**
 * What is wrong with the texts that are compared by their letters and digits alone. Only of what is asked for: what is
 * stored may be older. A place may be without a state, so that a city says enough.
 */
export const placeIssues = (
  { city, state, vertical }: Pick<QueryDefinition, "city" | "state" | "vertical">
) => [
  ...Object.entries({ city, vertical }).flatMap(([path, text]) =>
    text === undefined || saysSomething(text) ? [] : [{ path, message: "must have a letter or a digit" }]
  ),
  ...(state === undefined
    ? []
    : /\p{Cc}/u.test(state)
    ? [{ path: "state", message: "must not contain control characters" }]
    : city !== undefined || saysSomething(state)
    ? []
    : [{ path: "state", message: "must have a letter or a digit; it may be empty beside a city that has no state" }])
]
