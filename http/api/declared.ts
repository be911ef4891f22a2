import { type RouteEntry } from "#http/traits/route-table.ts"
import { RouteTraits, type Traits } from "#http/traits/Traits.ts"
import { codesIn } from "#src/shared/Failure.ts"
import { HttpApi, type HttpApiGroup, HttpApiSchema } from "@effect/platform"
import { Context, Option, type Schema } from "effect"

/** What an endpoint says of itself where it is declared. */
export interface Declared extends RouteEntry {
  /** As the OpenAPI document calls it. */
  readonly operationId: string
  /** The codes of its errors, by status. */
  readonly codes: ReadonlyMap<number, ReadonlyArray<string>>
}

/** Assistants add a parameter of their own (`utm_source`) to links that they show, and texts are what is linked to. */
const queryOf = ({ ast }: Schema.Schema.All, parameters: Option.Option<unknown>): Traits["query"] => {
  if (HttpApiSchema.getEncoding(ast).kind === "Text") return "any"
  return Option.isSome(parameters) ? "schema" : "none"
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
        query: queryOf(endpoint.successSchema, endpoint.urlParamsSchema),
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
