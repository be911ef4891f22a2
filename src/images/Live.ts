import { Layer } from "effect"
import { ImageCleanup } from "./ImageCleanup.ts"
import { Images } from "./Images.ts"
import { Teardown } from "./Teardown.ts"

export const ImagesLive = Layer.merge(Images.Default, Layer.provideMerge(Teardown.Default, ImageCleanup.Default))
