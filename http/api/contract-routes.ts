import { type RouteEntry } from "#http/traits/route-table.ts"
import { Api } from "./Api.ts"
import { declaredIn } from "./declared.ts"

/** Every route of the contract, with the traits of its group and its own. */
export const contractRoutes = (): ReadonlyArray<RouteEntry> =>
  declaredIn(Api).map(({ method, path, traits }) => ({ method, path, traits }))
