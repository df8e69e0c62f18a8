(package_clause name: (package_identifier) @name) @package
(class_definition name: (identifier) @name) @class
(object_definition name: (identifier) @name) @object
(trait_definition name: (identifier) @name) @trait
(enum_definition name: (identifier) @name) @enum
(simple_enum_case name: (identifier) @name) @enumerator
(full_enum_case name: (identifier) @name) @enumerator
(function_definition name: [(identifier) (operator_identifier)] @name) @function
(function_declaration name: [(identifier) (operator_identifier)] @name) @function
(type_definition name: (type_identifier) @name) @type
(given_definition name: (identifier) @name) @variable
(class_definition class_parameters: (class_parameters
  (class_parameter ["val" "var"] name: (identifier) @name) @field))
(val_definition pattern: (identifier) @name) @variable
(var_definition pattern: (identifier) @name) @variable
(val_declaration name: (identifier) @name) @variable
(var_declaration name: (identifier) @name) @variable
(lambda_expression) @local
