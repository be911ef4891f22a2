import { html, type Part } from "../html.ts"

/** `code` in a line; nothing else of Markdown is in our own texts. */
export const inline = (text: string): Part =>
  text.split("`").map((part, i) => i % 2 === 1 ? html`<code>${part}</code>` : part)

const block = (text: string): Part => {
  if (text.startsWith("## ")) return html`<h2>${inline(text.slice(3))}</h2>`
  if (text.startsWith("```")) {
    return html`<pre tabindex="0"><code>${text.replace(/^```\w*\n|\n?```$/g, "")}</code></pre>`
  }
  const items = text.split(/\n(?=- )/)
  return text.startsWith("- ")
    ? html`<ul>${items.map((item) => html`<li>${inline(item.slice(2))}</li>`)}</ul>`
    : html`<p>${inline(text)}</p>`
}

/** The little of Markdown that our own texts have: headings, paragraphs, lists, code. */
export const markdown = (text: string): Part => text.trim().split(/\n\n(?![^`]*\n```)/).map(block)
