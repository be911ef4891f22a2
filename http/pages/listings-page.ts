import { document } from "./document.ts"
import { html, type Part } from "./html.ts"
import { shownName } from "./shown.ts"

export interface ListingsProps {
  readonly nav: Part
  readonly user: string
  /** `href`: its analytics. */
  readonly listings: ReadonlyArray<{ readonly name: string; readonly href: string }>
  /** Path of the next page. */
  readonly more?: string | undefined
}

/** The listings of an account, with the way to what happened to each. */
export const listingsPage = ({ listings, more, nav, user }: ListingsProps) =>
  document({
    title: "Your listings",
    wide: true,
    main: html`${nav}
<h1>Your listings</h1>
${
      listings.length === 0
        ? html`<p>You have no business yet. Publish one, and see here what agents look for, and what they find of it.</p>`
        : html`<p>What agents and people do with your listings in the directory:</p>
<ul class="links">
${
          listings.map(({ href, name }) =>
            html`<li><a href="${href}"><bdi>${shownName(name, "A listing without a name")}</bdi></a></li>
`
          )
        }</ul>`
    }
${more !== undefined && html`<p><a href="${more}">Further ones</a></p>`}`,
    footer: html`<p>Signed in as <strong><bdi>${user}</bdi></strong>.</p>`
  })
