import { Schema } from "effect"

const absent = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/** It becomes a part of an address. */
const AdvisoryId = Schema.String.pipe(Schema.pattern(/^[\w.:+-]{1,150}$/))

/** `POST /v1/querybatch`: one result a query, in the order of the queries. */
export const BatchAnswer = Schema.Struct({
  results: Schema.Array(Schema.Struct({
    vulns: absent(Schema.Array(Schema.Struct({ id: AdvisoryId, modified: absent(Schema.String) }))),
    next_page_token: absent(Schema.String)
  }))
})

const Fields = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const Vectors = Schema.Array(Schema.Struct({ type: Schema.String, score: Schema.String }))

/** `GET /v1/vulns/{id}`: what is used of the OSV schema 1.7. */
export const Advisory = Schema.Struct({
  id: AdvisoryId,
  aliases: absent(Schema.Array(Schema.String)),
  upstream: absent(Schema.Array(Schema.String)),
  withdrawn: absent(Schema.String),
  summary: absent(Schema.String),
  details: absent(Schema.String),
  severity: absent(Vectors),
  database_specific: absent(Fields),
  affected: absent(Schema.Array(Schema.Struct({
    package: absent(Schema.Struct({ ecosystem: Schema.String, name: Schema.String })),
    severity: absent(Vectors),
    database_specific: absent(Fields),
    ecosystem_specific: absent(Fields),
    ranges: absent(Schema.Array(Schema.Struct({
      type: Schema.String,
      events: absent(Schema.Array(Schema.Struct({ fixed: absent(Schema.String) })))
    })))
  })))
})
export type Advisory = typeof Advisory.Type
