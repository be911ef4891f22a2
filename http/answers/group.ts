import { HttpApi, type HttpApiGroup } from "@effect/platform"

/** The name of the whole API, whose groups are written and handled one by one. */
export const apiName = "berth"

/** The API as far as one group goes: all that its handlers need to know of it. */
export const alone = <G extends HttpApiGroup.HttpApiGroup.Any>(group: G) => HttpApi.make(apiName).add(group)
