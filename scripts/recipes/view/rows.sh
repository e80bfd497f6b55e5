add_line web/views/index.js 'import {view as bars}' 'import {view as __name__} from "fovea/views/__name__.js";'
add_line web/views/index.js '];' '  __name__,'
