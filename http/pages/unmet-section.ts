import { type UnmetSearch, type UnmetSearchList } from "#src/hub/ListingAnalytics.ts"
import { shownDay, shownNumber } from "./chart.ts"
import { type Html, html } from "./html.ts"
import { shownName } from "./shown.ts"

const capitalised = (text: string) => text.replace(/(?<![\p{L}\p{M}'’])\p{L}/gu, (letter) => letter.toUpperCase())

const asked = ({ category, min_verification, vertical, words }: UnmetSearch) => {
  const parts = [
    ...(words === undefined ? [] : [html`<q><bdi>${shownName(words, "?", 80)}</bdi></q>`]),
    ...(category === undefined ? [] : [html`category <q><bdi>${shownName(category, "?")}</bdi></q>`]),
    ...(vertical === undefined ? [] : [html`kind <q><bdi>${shownName(vertical, "?")}</bdi></q>`]),
    ...(min_verification === undefined ? [] : [html`at least ${min_verification.replaceAll("_", " ")}`])
  ]
  return parts.map((part, at) => html`${at > 0 && ", "}${part}`)
}

const where = ({ city, near, state }: UnmetSearch) => {
  const place = [
    ...(city === undefined ? [] : [capitalised(city)]),
    ...(state === undefined ? [] : [state.length === 2 ? state.toUpperCase() : capitalised(state)])
  ].join(", ")
  if (place !== "") return html`in <bdi>${shownName(place, "?")}</bdi>`
  return near ? "around here" : "anywhere"
}

/** What agents asked for and did not get. */
export const unmetSection = ({ has_more, searches }: UnmetSearchList): Html =>
  html`<h2 id="unmet">What agents asked for and did not find</h2>
${
    searches.length === 0
      ? html`<p>No search near you, or for businesses of your kind, was without a result in these days.</p>`
      : html`<p>Searches near you, or for businesses of your kind, that had no result. Offering it, naming it in your
description, or being verified may be what they lack.</p>
<table aria-labelledby="unmet">
<thead><tr><th scope="col">Asked for</th><th scope="col" class="number">Times</th><th scope="col">Last</th></tr></thead>
<tbody>
${
        searches.map((search) =>
          html`<tr><td>${asked(search)}<br><span class="soft">${where(search)}</span></td>
<td class="number">${shownNumber(search.times)}</td><td><time datetime="${search.last_day}">${
            shownDay(search.last_day)
          }</time></td></tr>
`
        )
      }</tbody>
</table>
${has_more && html`<p class="soft">There were more; a shorter period shows others.</p>`}`
  }
<p class="soft">The words are other people's, as they typed them; nobody checked them. Searches are kept for 90
days, without who asked.</p>`
