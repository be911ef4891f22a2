import { Predicate } from "effect"

export type Json = Record<string, unknown>

export const children = (value: unknown) =>
  (Predicate.isRecord(value) ? Object.entries(value) : []) as Array<[string, Json]>

export const dig = (value: unknown, ...path: ReadonlyArray<string>) => {
  const found = path.reduce<unknown>((inner, key) => Predicate.isRecord(inner) ? inner[key] : undefined, value)
  return Predicate.isRecord(found) ? found : undefined
}

/** Every operation of a document. */
export const operationsOf = (spec: Json) =>
  children(spec["paths"]).flatMap(([path, methods]) =>
    children(methods).map(([method, operation]) => ({
      path,
      method,
      operation,
      operationId: String(operation["operationId"]),
      responses: operation["responses"] as Json
    }))
  )

const references = (value: unknown) =>
  [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!)

/** The schemas that a document uses, through others too. */
export const usedSchemas = (schemas: Json, document: Json) => {
  const used = new Set<string>()
  const add = (names: ReadonlyArray<string>) => {
    for (const name of names) {
      if (used.has(name)) continue
      used.add(name)
      add(references(schemas[name] ?? null))
    }
  }
  add(references(document))
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)))
}
