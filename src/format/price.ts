import type { CatalogItem } from "./ReadyConfig.ts"

/** Prices of a catalog are US cents; the contract has no other currency. */
const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" })

/** `$8.99`, `from $8.99`, `$45.00 per hour`, `free estimate`, or `price on request` when none is stated. */
export const formatPrice = ({ priceCents, priceType }: Pick<CatalogItem, "priceCents" | "priceType">): string => {
  if (priceType === "free_estimate") return "free estimate"
  if (priceCents === null) return "price on request"
  const amount = dollars.format(priceCents / 100)
  return priceType === "starting_at" ? `from ${amount}` : priceType === "hourly" ? `${amount} per hour` : amount
}
