import { html } from "./html.ts"
import { type linksOf } from "./links.ts"

type Links = Pick<ReturnType<typeof linksOf>, "grants" | "listings" | "usage">

/** The way between the pages of an account. */
export const accountNav = (links: Links, current?: keyof Links) => {
  const entries = [["grants", "Connected applications"], ["listings", "Your listings"], ["usage", "Usage"]] as const
  return html`<nav class="tabs" aria-label="Account">
${
    entries.map(([name, text]) =>
      html`<a href="${links[name]()}"${name === current && html` aria-current="page"`}>${text}</a>
`
    )
  }</nav>`
}
