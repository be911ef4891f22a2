import { type RouteEntry } from "#http/traits/route-table.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { codesIn } from "#src/shared/Failure.ts"
import { HttpApi, type HttpApiGroup } from "@effect/platform"
import { Context, Option } from "effect"

/** What an endpoint says of itself where it is declared. */
export interface Declared extends RouteEntry {
  /** As the OpenAPI document calls it. */
  readonly operationId: string
  /** The codes of its errors, by status. */
  readonly codes: ReadonlyMap<number, ReadonlyArray<string>>
}

/** Every endpoint of an API, with the traits of its group and its own. */
export const declaredIn = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
): ReadonlyArray<Declared> => {
  const declared: Array<Declared> = []
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, errors, group }) => {
      const traits = {
        idempotency: "account" as const,
        strictQuery: true,
        query: Option.isSome(endpoint.urlParamsSchema) ? "schema" as const : "none" as const,
        ...Option.getOrUndefined(Context.getOption(group.annotations, RouteTraits)),
        ...Option.getOrUndefined(Context.getOption(endpoint.annotations, RouteTraits))
      }
      const codes = Array.from(
        errors,
        ([status, { ast }]) => [status, Option.match(ast, { onNone: () => [], onSome: codesIn })] as const
      )
      declared.push({
        operationId: `${group.identifier}.${endpoint.name}`,
        method: endpoint.method,
        path: endpoint.path,
        traits,
        codes: new Map(codes)
      })
    }
  })
  return declared
}
