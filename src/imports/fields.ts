/** The fields of an item that an import sets. */
export const itemFields = ["name", "description", "price", "price_type", "item_type", "category"] as const
export type ItemField = typeof itemFields[number]
