(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(namespace_definition name: (namespace_identifier) @name) @namespace
(namespace_definition
  name: (nested_namespace_specifier (namespace_identifier) @name .)) @namespace
(class_specifier name: (type_identifier) @name body: (_)) @class
(class_specifier name: (template_type name: (type_identifier) @name) body: (_)) @class
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @union
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(enumerator name: (identifier) @name) @enumerator
(concept_definition name: (identifier) @name) @concept
(alias_declaration name: (type_identifier) @name) @typedef
(type_definition declarator: (_) @declarator) @typedef
(function_definition declarator: (_) @declarator) @function
(field_declaration declarator: (_) @declarator) @field
(declaration declarator: (_) @declarator) @variable
(lambda_expression) @local
