import { byDay, isWeekday } from "#src/format/opening-day.ts"
import { type DayHours, type TemplateType } from "#src/format/ReadyConfig.ts"
import { type ListingPage } from "#src/syndication/PublicBusinesses.ts"
import { Html } from "./html.ts"

/** Types of schema.org for the templates; all are kinds of LocalBusiness. */
const types: Readonly<Record<TemplateType, ReadonlyArray<string>>> = {
  restaurant: ["LocalBusiness", "Restaurant"],
  salon: ["LocalBusiness", "HealthAndBeautyBusiness"],
  home_services: ["LocalBusiness", "HomeAndConstructionBusiness"],
  retail: ["LocalBusiness", "Store"],
  professional_services: ["LocalBusiness", "ProfessionalService"],
  custom: ["LocalBusiness"]
}

const given = <A>(name: string, value: A, isThere = true) => isThere && value !== "" ? { [name]: value } : {}

/** Searchers read equal times as closed, and a whole day as 00:00 to 23:59 (schema.org, OpeningHoursSpecification). */
const timesOf = (span: DayHours) => {
  if (span === "closed") return { opens: "00:00", closes: "00:00" }
  const isWholeDay = span.open === span.close || span.open === "00:00" && span.close === "24:00"
  return isWholeDay
    ? { opens: "00:00", closes: "23:59" }
    : { opens: span.open, closes: span.close.replace("24:00", "23:59") }
}

const hoursOf = ({ openingHours }: ListingPage) =>
  Object.entries(byDay(openingHours)).map(([key, span]) => ({
    "@type": "OpeningHoursSpecification",
    ...(isWeekday(key)
      ? { dayOfWeek: `https://schema.org/${key.charAt(0).toUpperCase()}${key.slice(1)}` }
      : { validFrom: key, validThrough: key }),
    ...timesOf(span)
  }))

type Priced = ListingPage["sections"][number]["items"][number]

/** A price that may be more, or is for an hour, stands in a specification: `price` alone is what is paid. */
const priceOf = (amount: string, priceType: Priced["priceType"]) => {
  const priceCurrency = "USD"
  switch (priceType) {
    case "starting_at":
      return { priceSpecification: { "@type": "PriceSpecification", minPrice: amount, priceCurrency } }
    case "hourly":
      // HUR: hour (UN/CEFACT).
      return {
        priceSpecification: { "@type": "UnitPriceSpecification", price: amount, priceCurrency, unitCode: "HUR" }
      }
    default:
      return { price: amount, priceCurrency }
  }
}

const offerOf = ({ priceCents, priceType }: Priced) =>
  priceCents === null || priceType === "free_estimate" ? {} : {
    offers: {
      "@type": "Offer",
      ...priceOf((priceCents / 100).toFixed(2), priceType),
      availability: "https://schema.org/InStock"
    }
  }

const menuOf = ({ pageUrl, sections }: ListingPage) => ({
  "@type": "Menu",
  "@id": `${pageUrl}#menu`,
  hasMenuSection: sections.map(({ items, name }) => ({
    "@type": "MenuSection",
    name,
    hasMenuItem: items.map((item) => ({
      "@type": "MenuItem",
      name: item.name,
      ...given("description", item.description),
      ...offerOf(item)
    }))
  }))
})

/** The business in the words of schema.org. */
export const linkedDataOf = (business: ListingPage) => {
  const { address, coordinates } = business
  return {
    "@context": "https://schema.org",
    "@type": types[business.templateType],
    "@id": `${business.pageUrl}#business`,
    name: business.name,
    url: business.pageUrl,
    ...given("description", business.description),
    ...given("telephone", business.phone),
    ...given("sameAs", business.website),
    ...given("image", business.featuredImageUrl),
    address: {
      "@type": "PostalAddress",
      ...given("streetAddress", address.line1),
      ...given("addressLocality", address.city),
      ...given("addressRegion", address.state),
      ...given("postalCode", address.zip),
      ...given("addressCountry", address.country)
    },
    ...given("geo", { "@type": "GeoCoordinates", ...coordinates }, coordinates !== null),
    ...given("openingHoursSpecification", hoursOf(business), Object.keys(business.openingHours).length > 0),
    ...given("hasMenu", menuOf(business), business.sections.length > 0)
  }
}

/** What could end the element, begin a comment in it, or a line of old scripts (HTML standard, 4.12.1.3). */
const unsafe = /[<>&\u2028\u2029]/g

/** JSON as the text of a script element that is data: no value can end the element. */
export const dataScript = (value: unknown) =>
  new Html(
    `<script type="application/ld+json">${
      JSON.stringify(value).replace(unsafe, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`)
    }</script>`
  )
