import { type Account, dataOf } from "./account.ts"
import { businesses } from "./business.ts"

export interface Item {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly categoryId: string | null
  readonly itemType: string
  readonly priceCents: number | null
  readonly priceType: string
  readonly currency: string
  readonly isAvailable: boolean
  readonly metadata: Readonly<Record<string, unknown>>
  readonly sortOrder: number
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Category {
  readonly id: string
  readonly name: string
  readonly sortOrder: number
}

export interface Catalog {
  readonly categories: ReadonlyArray<Category>
  readonly items: ReadonlyArray<Item>
}

export const catalogOf = (businessId: string) => `${businesses}/${businessId}/catalog`

export const readCatalog = async (owner: Account, businessId: string): Promise<Catalog> =>
  dataOf(await owner.get<{ data: Catalog }>(catalogOf(businessId)))

export const newItem = async (
  owner: Account,
  businessId: string,
  fields: Readonly<Record<string, unknown>> = {}
): Promise<Item> =>
  dataOf(await owner.post<{ data: Item }>(`${catalogOf(businessId)}/items`, { name: "Corn Ribs", ...fields }))

export const newCategory = async (
  owner: Account,
  businessId: string,
  fields: Readonly<Record<string, unknown>> = {}
): Promise<Category> =>
  dataOf(
    await owner.post<{ data: Category }>(`${catalogOf(businessId)}/categories`, { name: "Soups", ...fields })
  )
