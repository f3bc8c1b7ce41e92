#!/usr/bin/env node
import launch from './launch.cjs'

launch()
