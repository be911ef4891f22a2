import { type ListingPage } from "#src/syndication/PublicBusinesses.ts"
import { document } from "./document.ts"
import { html, type Part } from "./html.ts"
import { dataScript, linkedDataOf } from "./json-ld.ts"
import { shownName } from "./shown.ts"

const verified: Readonly<Record<ListingPage["verificationLevel"], string>> = {
  unverified: "Not verified",
  phone_verified: "Phone verified",
  business_verified: "Verified business",
  premium_verified: "Verified business, reviewed"
}

const list = (parts: ReadonlyArray<string>, by: string) => parts.filter((part) => part.trim() !== "").join(by)

const addressOf = ({ address: { city, country, line1, state, zip } }: ListingPage) =>
  list([line1, city, list([state, zip], " "), country], ", ")

const metaOf = (business: ListingPage, title: string, summary: string): Part =>
  html`<link rel="canonical" href="${business.pageUrl}">
<link rel="alternate" type="text/markdown" title="SKILL.md" href="${business.skillUrl}">
<meta name="description" content="${summary}">
<meta property="og:type" content="business.business">
<meta property="og:site_name" content="Berth">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${summary}">
<meta property="og:url" content="${business.pageUrl}">
${
    business.featuredImageUrl !== "" && html`<meta property="og:image" content="${business.featuredImageUrl}">
`
  }${dataScript(linkedDataOf(business))}`

const menu = ({ omittedItems, sections, templateType }: ListingPage): Part =>
  sections.length > 0 && html`<h2 id="menu">${templateType === "restaurant" ? "Menu" : "Offers"}</h2>
${
    sections.map(({ items, name }) =>
      html`<h3><bdi>${name}</bdi></h3>
<ul class="menu">
${
        items.map(({ description, name, price }) =>
          html`<li><span><bdi>${name}</bdi></span> <span class="price">${price}</span>${
            description !== "" && html` <p class="soft"><bdi>${description}</bdi></p>`
          }</li>
`
        )
      }</ul>
`
    )
  }${omittedItems > 0 && html`<p class="soft">And ${omittedItems} more.</p>`}`

const hours = ({ hours }: ListingPage): Part =>
  hours.length > 0 && html`<h2>Hours</h2>
<table><caption class="soft">On the business's own clock</caption>
<thead><tr><th scope="col">Day</th><th scope="col">Open</th></tr></thead>
<tbody>
${
    hours.map(({ day, hours }) =>
      html`<tr><th scope="row">${day}</th><td>${hours}</td></tr>
`
    )
  }</tbody></table>`

const row = (term: string, value: Part): Part =>
  html`<div><dt>${term}</dt><dd>${value}</dd></div>
`

const contact = (business: ListingPage): Part => {
  const { phone, referralUrl, website } = business
  const address = addressOf(business)
  const dialled = phone.replace(/[^+\d]/g, "")
  if (address === "" && phone === "" && website === "") return false
  return html`<h2>Contact</h2>
<dl>
${address !== "" && row("Address", html`<bdi>${address}</bdi>`)}${
    phone !== "" && row("Phone", dialled === "" ? phone : html`<a href="tel:${dialled}">${phone}</a>`)
  }${
    website !== "" &&
    row("Website", html`<a href="${referralUrl}" rel="nofollow ugc noopener"><bdi>${website}</bdi></a>`)
  }</dl>`
}

const forAgents = ({ mcpServerUrl, skillUrl }: ListingPage): Part =>
  html`<h2>For AI agents</h2>
<ul>
${
    mcpServerUrl === ""
      ? html`<li>This business has no MCP server.</li>`
      : html`<li>MCP server: <code>${mcpServerUrl}</code></li>`
  }
<li><a href="${skillUrl}" rel="nofollow">SKILL.md: how an agent uses this business</a></li>
</ul>`

/** The page of a listing for everybody. The business's texts are its own words. */
export const publicListingPage = (business: ListingPage) => {
  const { categories, city, description, slug, state, verificationLevel } = business
  const name = shownName(business.name, slug, 120)
  const place = list([city, state], ", ")
  const title = list([name, place], ", ")
  const summary = list([list([categories.slice(0, 3).join(", "), place], " in "), description], ". ").slice(0, 300)
  return document({
    title,
    head: metaOf(business, title, summary.toWellFormed()),
    isPublic: true,
    wide: true,
    main: html`<h1><bdi>${name}</bdi></h1>
<p class="soft">${list([categories.join(", "), place, verified[verificationLevel]], " · ")}</p>
${description !== "" && html`<blockquote><bdi>${description}</bdi></blockquote>`}
${menu(business)}
${hours(business)}
${contact(business)}
${forAgents(business)}`,
    footer: html`<p>The texts are the business's own words.</p>`
  })
}
