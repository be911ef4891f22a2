import { HttpApi, type HttpApiGroup } from "@effect/platform"

/** The name of the whole API, whose groups are declared and implemented one by one. */
export const apiName = "berth"

/** An API of one group, enough for the types of its handlers. */
export const apiOf = <G extends HttpApiGroup.HttpApiGroup.Any>(group: G) => HttpApi.make(apiName).add(group)
