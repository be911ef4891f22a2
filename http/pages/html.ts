/** Markup that is safe to send: from our own templates, with every value escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** `false` and `undefined` render nothing, so that a part may depend on a condition. */
export type Part = Html | string | number | false | undefined | ReadonlyArray<Part>

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

/** Enough for text and for a quoted attribute (HTML standard, 13.3); the templates quote all attributes. */
const escape = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)

const render = (part: Part): string => {
  if (part === false || part === undefined) return ""
  if (part instanceof Html) return part.text
  return typeof part === "string" || typeof part === "number" ? escape(String(part)) : part.map(render).join("")
}

/** A template whose values are escaped unless they are `Html` already. */
export const html = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>) =>
  new Html(strings.reduce((text, string, i) => text + render(parts[i - 1]) + string))
