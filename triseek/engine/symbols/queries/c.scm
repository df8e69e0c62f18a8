(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @union
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(enumerator name: (identifier) @name) @enumerator
(type_definition declarator: (_) @declarator) @typedef
(function_definition declarator: (_) @declarator) @function
(field_declaration declarator: (_) @declarator) @field
(declaration declarator: (_) @declarator) @variable
