import { climbCases } from './job-climb.cases.js'

climbCases('cli')
